% exit: 1
print max_block_size([1e30,3]) > 0
print max_block_size([inf,3])
