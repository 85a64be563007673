"""Deployment for others: the proxy, the image, the service and their settings."""
