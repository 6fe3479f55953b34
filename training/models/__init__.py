"""The models: their shapes, training, and export to ONNX."""
