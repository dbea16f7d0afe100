"""What the course measures, on arrays from either model."""
