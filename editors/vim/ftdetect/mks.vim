autocmd BufRead,BufNewFile *.mks setfiletype mks
autocmd FileType mks setlocal commentstring=#\ %s expandtab shiftwidth=4
