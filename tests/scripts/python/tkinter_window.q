% needs: python tkinter
% display: yes
% A tkinter window whose buttons and timers call the script.
tk = pyimport("tkinter")
root = tk.Tk()
root.title("quasar")
clicks = [0]
function [] = clicked()
    clicks[0] += 1
end
button = tk.Button(root, text:="press", command:=clicked)
button.pack()
entry = tk.Entry(root)
entry.pack()
entry.insert(pyint(0), "typed")
for i = 1..3
    button.invoke()
end
root.after(pyint(20), () -> root.quit())
root.mainloop()
print clicks[0], " ", entry.get(), " ", root.title(), " ", button["text"], " ", root.winfo_exists()
canvas = tk.Canvas(root, width:=80, height:=60)
line = canvas.create_line(pyimport("builtins").list({0,0,79,59}), fill:="red")
print canvas.type(pyint(line)), " ", canvas["width"]
root.after(pyint(1), () -> error("stopped by a timer"))
root.report_callback_exception = (kind, value, trace) -> root.quit()
root.mainloop()
root.destroy()
try
    button.invoke()
catch e
    print pystr(e)
end
