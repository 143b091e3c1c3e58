/**
 * Settings from environment variables: HOLDFAST_SECTION__KEY, which take precedence over the file.
 *
 * Owns: their names. Knows nothing of: the meaning of values, except that a list in brackets or with hyphens is YAML.
 */
import { parseDocument } from 'yaml'
import { type ConfigFault, configFault } from './config-fault.ts'
import { unknownName, type Written } from './config-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const PREFIX = 'HOLDFAST_'

export const environmentName = (setting: string): string =>
  PREFIX + setting.toUpperCase().replaceAll('.', '__')

export interface WrittenEnvironment {
  readonly settings: ReadonlyMap<string, Written>
  readonly faults: readonly ConfigFault[]
}

/** YAML in brackets, or a line for each entry. */
const LIST = /^\s*[[-]/

/** `lists`: the settings whose entries may be more than texts. */
export function readEnvironment(
  environment: Environment,
  known: readonly string[],
  lists: readonly string[],
): WrittenEnvironment {
  const byVariable = new Map(known.map((name) => [environmentName(name), name]))
  const settings = new Map<string, Written>()
  const faults: ConfigFault[] = []
  for (const [variable, text] of Object.entries(environment)) {
    // A variable without a double underscore (HOLDFAST_HOME) is not a setting: a section always has two underscores.
    if (!variable.startsWith(PREFIX) || !variable.includes('__') || text === undefined) continue
    const where = `environment variable ${variable}`
    const name = byVariable.get(variable)
    if (name === undefined) {
      const unknown = unknownName(variable, [...byVariable.keys()])
      faults.push(configFault({ setting: variable, where, ...unknown }))
      continue
    }
    const document = lists.includes(name) && LIST.test(text) ? parseDocument(text) : null
    const problem = document?.errors[0] ?? document?.warnings[0]
    if (problem !== undefined) {
      const [what = ''] = problem.message.split(/ at line \d/)
      const hint = 'Write the list in one line, such as [{id: n1, peer: "10.0.0.1:9002"}].'
      faults.push(configFault({ setting: name, where, message: `this is not valid YAML: ${what}`, hint }))
      continue
    }
    const value: unknown = document === null ? text : document.toJS({ maxAliasCount: 100 })
    settings.set(name, { value, origin: { kind: 'environment', where } })
  }
  return { settings, faults }
}
