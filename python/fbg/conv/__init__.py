"""Convolutions: packed weights, the call that computes with them, and the im2col packer."""
