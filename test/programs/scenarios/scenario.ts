/**
 * Plays a scenario and returns its output, block by block.
 *
 * Owns: prefixes of commands and the place of an error. Knows nothing of: single commands.
 * Rule: the checker runs after every block; a scenario that breaks a promise fails, even if its text expects that.
 */
import { COMMANDS } from './commands.ts'
import type { ScenarioState } from './commands.ts'
import { ScenarioError } from './scenario-file.ts'
import type { Block, Command, ScenarioFile } from './scenario-file.ts'
import { statusText } from './traced-network.ts'
import { Words } from './words.ts'

/** For preparations: prints the final state of the members instead of the trace. */
const QUIETLY = 'quietly'
/** The command breaks an invariant of the core, which stops the process. */
const MUST_STOP = 'must-stop'

/** For a failed command: the last lines are the most useful. */
const TRACE_LINES_SHOWN = 20

export function playScenario(file: ScenarioFile): readonly (readonly string[])[] {
  const state: ScenarioState = { network: null, held: new Map() }
  return file.blocks.map((block) => playBlock(block, state))
}

function playBlock(block: Block, state: ScenarioState): readonly string[] {
  const trace = block.commands.flatMap((command) => playCommand(command, state))
  try {
    state.network?.checker.compareLogs()
  } catch (error) {
    throw new ScenarioError(block.place, messageOf(error), { cause: error })
  }
  return trace.length > 0 ? trace : ['ok']
}

function playCommand({ text, place }: Command, state: ScenarioState): readonly string[] {
  const words = text.trim().split(/\s+/)
  const prefixes = words.slice(
    0,
    words.findIndex((word) => word !== QUIETLY && word !== MUST_STOP),
  )
  const [name = '', ...rest] = words.slice(prefixes.length)
  const kind = COMMANDS[name]
  if (kind === undefined) {
    throw new ScenarioError(place, `unknown command ${name}; there are: ${Object.keys(COMMANDS).join(', ')}`)
  }
  try {
    if (state.network !== null) state.network.mustStop = prefixes.includes(MUST_STOP)
    const left = new Words(rest)
    kind.run(left, state)
    left.end()
    if (state.network?.mustStop === true) throw new Error('no invariant was broken, but one must be')
    return prefixes.includes(QUIETLY) ? peerStatus(state) : (state.network?.takeTrace() ?? [])
  } catch (error) {
    const trace = state.network?.takeTrace().slice(-TRACE_LINES_SHOWN) ?? []
    throw new ScenarioError(place, [messageOf(error), `usage: ${kind.usage}`, ...trace].join('\n'), {
      cause: error,
    })
  }
}

function peerStatus({ network }: ScenarioState): readonly string[] {
  if (network === null) return []
  network.takeTrace()
  return [...network.nodes.keys()].map((id) => statusText(network, id))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
