"""Chat models behind one protocol: endpoints, the embedded model, the shipped fake."""
