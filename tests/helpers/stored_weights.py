"""The weights of a checkpoint, stored in another of the ways that there are."""

from safetensors.numpy import load_file, save_file

from helpers.tiny_bert import write_json
from helpers.torch_files import write_torch_file


def store_weights(directory, *, shards=None, torch=False, **options):
    """Replace model.safetensors of a directory.

    shards: the number of files that an index names; None for one file without an index. torch:
    whether they are those of torch.save. options: of write_torch_file.
    """
    file = directory / "model.safetensors"
    tensors, weight_map = load_file(file), dict[str, str]()
    file.unlink()
    whole = "pytorch_model.bin" if torch else file.name
    stem, ending = whole.split(".")
    for n in range(shards or 1):
        part = {name: tensors[name] for name in sorted(tensors)[n :: shards or 1]}
        name = f"{stem}-{n + 1:05}-of-{shards:05}.{ending}" if shards else whole
        if torch:
            write_torch_file(directory / name, part, **options)
        else:
            save_file(part, directory / name)
        weight_map |= dict.fromkeys(part, name)
    if shards:
        index = {"metadata": {"total_size": 0}, "weight_map": weight_map}
        write_json(directory / f"{whole}.index.json", index)
    return directory
