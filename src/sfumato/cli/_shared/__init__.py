"""What commands share.

options           options of several commands
question_options  options of ask, quote and explain
screen            text and tables on a terminal
formats           answers as table, CSV, JSON or Arrow
command           how a module says which commands it has, and how they share options
cost              costs and what is left
progress          the progress bar
files             files that are written
streams           output that cannot be written
failure           errors and exit codes
words             options, commands and lines of the project file in a message
simulation        made-up tables
legibility        values of a table that cannot be read
"""
