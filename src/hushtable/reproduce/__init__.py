"""The experiments of the papers, one file per paper: published results compared with ours."""
