#!/usr/bin/env node
/**
 * The entry point. Owns: the check of the Node.js version, before any import that needs it, and the mask of file modes, before any file.
 */
/** As `engines` in package.json. */
const NODE_MIN = [24, 12]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const [majorMin = 0, minorMin = 0] = NODE_MIN

if (major < majorMin || (major === majorMin && minor < minorMin)) {
  process.stderr.write(
    `holdfast needs Node.js ${majorMin}.${minorMin} or newer; this is ${process.versions.node} (${process.execPath}).\n` +
      `Install Node.js ${majorMin} (https://nodejs.org, or nvm install ${majorMin}); for one project: npm install node@${majorMin}, then npx holdfast ...\n` +
      'In a clone of the repository npm start and npm run -s holdfast -- ... bring their own.\n',
  )
  process.exitCode = 1
} else {
  const { keepFilesPrivate } = await import('./base/private-files.ts')
  keepFilesPrivate()
  // Node.js keeps compiled code between runs, which halves the time to --help and to a listening node.
  const { enableCompileCache } = await import('node:module')
  const { compiledCodeFolder } = await import('./base/compiled-code.ts')
  const folder = compiledCodeFolder(process.env)
  if (folder !== null) enableCompileCache(folder)
  const { runProgram } = await import('./cli/program.ts')
  process.exitCode = await runProgram(process.argv.slice(2))
}

export {}
