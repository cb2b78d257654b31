"""What a ledger stores.

entry       one line, and the chain
amount      a cost in whole units
budget      the most that may be spent
request     what the curator asks, and the reply
payload     question and answer, which may be erased
portable    a ledger as JSON Lines or CSV
typed_json  frozen values as JSON
"""
