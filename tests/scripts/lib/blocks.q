print max_block_size([16,8]), " ", all(max_block_size([4096,4096]) <= 4096), " ", opt_block_size([1000]), numel(opt_block_size([100,100,3]))
