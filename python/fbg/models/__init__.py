"""Networks: what a checkpoint directory holds, and the graph of ops that it describes.

config, tokenization, sentence   the JSON files of a Hugging Face model directory
architectures                    what distinguishes the families of encoders
weights                          model.safetensors, in one file or several
transformer                      what every network is made of
bert, modernbert, networks       the networks
precision                        linear layers by name; some of them in another dtype
smoothing, rounding              int8 weights that lose less
task_config, heads               what a model was trained for, and the layers that do it
saved, saved_file                directories with packed weights, mapped when they are loaded
packing                          padded arrays <-> sequences end to end
runner                           plans, one per capacity
reports                          what a model holds in memory, what a plan decided
comparison, sensitivity          what a lower precision costs, and where
benchmark, profiling             how long a run takes, and which part of it
measuring, plots                 what these four share
encoder                          Model: what fbg.load returns
text_tasks, token_tasks          its tasks
inputs, task_runner              what tasks take, and how they run
postprocessing                   from logits to labels, entities and answers
"""
