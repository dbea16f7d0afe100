"""The NumPy training step, arranged for the machine. Read `reference`.

The functions are those of `assembled.reference`; the tests hold every
gradient equal to theirs. What differs:

- a norm's gain, SwiGLU's ½ and attention's scale are taken into the
  weights once a step (`step.pack`), so no pass over activations has them;
- q, k and v are one product;
- attention goes by blocks of queries, which see no later keys, and makes
  its weights anew in the backward (`attention`);
- entrywise work goes by pieces that stay in a core's own cache;
- every array is kept between steps (`room.new_room`): the system need not
  hand out fresh memory.
"""
