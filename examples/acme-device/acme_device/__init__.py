"""An example of a device that another package has."""
