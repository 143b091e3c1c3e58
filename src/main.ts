#!/usr/bin/env node
/**
 * The entry point. Owns: the check of the Node.js version, before any import that needs it, and the mask of file modes, before any file.
 */
const NODE_MAJOR_MIN = 24
const major = Number(process.versions.node.split('.')[0])

if (major < NODE_MAJOR_MIN) {
  process.stderr.write(
    `holdfast needs Node.js ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}.\n` +
      'Run it through npm (npm start, npm run -s holdfast -- ...), which brings its own Node, or install Node 24.\n',
  )
  process.exitCode = 1
} else {
  const { keepFilesPrivate } = await import('./base/private-files.ts')
  keepFilesPrivate()
  // Node.js keeps compiled code between runs, which halves the time to --help and to a listening node.
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  const { runProgram } = await import('./cli/program.ts')
  process.exitCode = await runProgram(process.argv.slice(2))
}

export {}
