"""A risk report and its forms.

report    the report
contents  its values
sections  its texts and tables
page      as HTML
picture   its charts
"""
