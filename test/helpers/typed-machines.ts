/**
 * The machines of a typed page: a desk and the nodes that it names, each with its own folder and shell.
 *
 * Owns: the replacements of programs that reach other machines (`scp`) or run for long (`holdfast server`). Rules: a node that is started
 * here runs in the background of its shell and ends with it; the line that starts it returns when the node has started.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { until } from './async.ts'
import { Terminal } from './terminal.ts'

const DESK = 'desk'

const PREAMBLE = `
holdfast() {
  if [ "$1" != server ]; then '${process.execPath}' '${nodeProgram()}' "$@"; return; fi
  : >server.log
  '${process.execPath}' '${nodeProgram()}' "$@" >server.out 2>server.log &
  echo $! >server.pid
  until grep -q '"node started"' server.log; do
    kill -0 $! 2>/dev/null || { cat server.out server.log; return 1; }
    sleep 0.1
  done
  # A node that waits prints what to type next behind that line of its log.
  while grep -q '"isWaiting":true' server.log && ! grep -q '^  certificate' server.out; do
    kill -0 $! 2>/dev/null || break
    sleep 0.1
  done
  cat server.out
}
scp() {
  for last do :; done
  mkdir -p "../\${last%%:*}"
  for file do [ "$file" = "$last" ] || cp -p "$file" "../\${last%%:*}/"; done
}`

export class TypedMachines {
  readonly #t: { teardown(callback: () => unknown): unknown }
  readonly #root: string
  readonly #terminals = new Map<string, Terminal>()

  constructor(t: { teardown(callback: () => unknown): unknown }, root: string) {
    this.#t = t
    this.#root = root
  }

  /** Created on first use. Empty: the desk. */
  folder(machine: string): string {
    const folder = join(this.#root, machine || DESK)
    mkdirSync(folder, { recursive: true })
    return folder
  }

  type(machine: string, lines: string): Promise<string> {
    const cwd = this.folder(machine)
    const terminal =
      this.#terminals.get(machine) ?? new Terminal(this.#t, { cwd, preamble: PREAMBLE, showsErrors: true })
    this.#terminals.set(machine, terminal)
    return terminal.type(lines)
  }

  /** The log of the node there since its last start. */
  log(machine: string): string {
    return readFileSync(join(this.folder(machine), 'server.log'), 'utf8')
  }

  /** Resolves when the node there has ended. Only a node that was started by a line typed there. */
  async end(machine: string, signal: NodeJS.Signals): Promise<void> {
    const pid = Number(readFileSync(join(this.folder(machine), 'server.pid'), 'utf8'))
    process.kill(pid, signal)
    await until(`${machine} has ended`, () => !isThere(pid))
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
