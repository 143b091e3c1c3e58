/** `node:http` for the bundle: an import of it would read all its properties, and one of them loads the HTTP client of `fetch`. */
module.exports = process.getBuiltinModule('node:http')
