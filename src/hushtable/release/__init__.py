"""What is published, and its verification."""
