package deep

var x, y = 1, 2

func f() {}

func g() {}
