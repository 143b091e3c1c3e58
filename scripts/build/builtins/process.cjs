/** `node:process` for the bundle: an import of it would read all its properties, and one of them opens the standard input. */
module.exports = process.getBuiltinModule('node:process')
