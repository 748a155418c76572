"""How often the product is wrong, asks, or is late: thousands of acts whose truth is known."""
