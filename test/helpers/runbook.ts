/** The lines of a runbook, typed verbatim into a shell. */
import { spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { withoutLoader } from './without-loader.ts'
import { blocksOf as typedBlocks } from './typed-page.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The shell blocks of the page in their order. */
export function blocksOf(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, 'deploy', 'runbooks', page), 'utf8')
  return typedBlocks(text).map(({ typed }) => typed)
}

/** Puts `holdfast` of this tree into the folder, for the PATH of the shell. */
export function installCommand(folder: string): void {
  const file = join(folder, 'holdfast')
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${nodeProgram()}" "$@"\n`)
  chmodSync(file, 0o755)
}

/** Resolves with the output; rejects when a line fails. The test may do other work meanwhile. */
export function typed(block: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const shell = spawn(...withoutLoader('sh', '-eu'), { env: { ...process.env, ...env } })
    let [printed, complaint] = ['', '']
    shell.stdout.on('data', (piece) => (printed += String(piece)))
    shell.stderr.on('data', (piece) => (complaint += String(piece)))
    shell.once('error', reject)
    shell.once('close', (code) => {
      if (code === 0) resolve(printed)
      else reject(new Error(`${block} ended with ${code}: ${complaint}`))
    })
    shell.stdin.end(block)
  })
}
