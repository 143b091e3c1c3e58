/**
 * `npm start`, and what benchmarks and tests start: `holdfast up` of this checkout, built first when a source has changed.
 *
 * Rule: the program is loaded into this process as if it had been started by itself, so that signals reach it and nodes run the same file.
 */
import { pathToFileURL } from 'node:url'
import { nodeProgram } from '../build/node-program.ts'

const program = nodeProgram()
process.argv.splice(1, process.argv.length, program, 'up', ...process.argv.slice(2))
await import(pathToFileURL(program).href)
