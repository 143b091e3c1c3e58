/**
 * Plays a scenario and returns what it printed, block by block.
 *
 * Owns: prefixes of commands and the place of an error. Knows nothing of: what single commands do.
 * Rule: the checker judges after every block; a scenario that breaks a promise fails, even if its text says so.
 */
import { COMMANDS } from './commands.ts'
import type { Stage } from './commands.ts'
import { ScenarioError } from './scenario-file.ts'
import type { Block, Command, ScenarioFile } from './scenario-file.ts'
import { statusText } from './traced-network.ts'
import { Words } from './words.ts'

/** For preparations: prints where the members stand afterwards instead of how they came there. */
const QUIETLY = 'quietly'
/** The command breaks an invariant of the core, which stops the process. */
const MUST_STOP = 'must-stop'

/** Of a command that failed; the last lines say most. */
const TRACE_LINES_SHOWN = 20

export function playScenario(file: ScenarioFile): readonly (readonly string[])[] {
  const stage: Stage = { network: null, held: new Map() }
  return file.blocks.map((block) => playBlock(block, stage))
}

function playBlock(block: Block, stage: Stage): readonly string[] {
  const trace = block.commands.flatMap((command) => playCommand(command, stage))
  try {
    stage.network?.checker.compareLogs()
  } catch (error) {
    throw new ScenarioError(block.place, messageOf(error), { cause: error })
  }
  return trace.length > 0 ? trace : ['ok']
}

function playCommand({ text, place }: Command, stage: Stage): readonly string[] {
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
    if (stage.network !== null) stage.network.mustStop = prefixes.includes(MUST_STOP)
    const left = new Words(rest)
    kind.run(left, stage)
    left.end()
    if (stage.network?.mustStop === true) throw new Error('no invariant was broken, but one must be')
    return prefixes.includes(QUIETLY) ? standing(stage) : (stage.network?.takeTrace() ?? [])
  } catch (error) {
    const trace = stage.network?.takeTrace().slice(-TRACE_LINES_SHOWN) ?? []
    throw new ScenarioError(place, [messageOf(error), `usage: ${kind.usage}`, ...trace].join('\n'), {
      cause: error,
    })
  }
}

function standing({ network }: Stage): readonly string[] {
  if (network === null) return []
  network.takeTrace()
  return [...network.nodes.keys()].map((id) => statusText(network, id))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
