"""Networks: what a checkpoint directory holds, and the graph of ops that it describes.

config, tokenization, sentence   the JSON files of a Hugging Face model directory
weights                          model.safetensors
bert                             the network, as in the paper
packing                          padded arrays <-> sequences end to end
runner                           plans, one per capacity
encoder                          Model: what fbg.load returns
"""
