"""Products: packers, packed weights, output pipelines and the calls that compute with them."""
