"""Networks: what a checkpoint directory holds, and the graph of ops that it describes.

config, tokenization, sentence   the JSON files of a Hugging Face model directory
architectures                    what distinguishes the families of encoders
weights                          model.safetensors, in one file or several
transformer                      the network
packing                          padded arrays <-> sequences end to end
runner                           plans, one per capacity
encoder                          Model: what fbg.load returns
"""
