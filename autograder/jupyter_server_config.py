"""Jupyter's configuration for formgrader: start `jupyter server` here.

Jupyter executes this file and provides `get_config`.
"""

config = get_config()
config.ServerApp.jpserver_extensions = {
    "nbgrader.server_extensions.formgrader": True
}
config.ServerApp.default_url = "/formgrader"
