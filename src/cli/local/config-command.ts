/**
 * `holdfast config check` and `print`: what a node would make of its configuration, without a node.
 *
 * Owns: how faults and values are told on a terminal. Rule: nothing but the file and the environment is looked at; what
 * they name (keys, folders, addresses) is for `holdfast doctor`.
 */
import { sentenceOf } from '../../config/config-fault.ts'
import { effectiveSettings, effectiveText } from '../../config/effective-settings.ts'
import { type Examined, examineConfig } from '../../config/load-config.ts'
import { EXIT } from '../base/exit.ts'

interface ConfigOptions {
  readonly config: string
  readonly json?: boolean
}

export function checkConfig({ config: file, json = false }: ConfigOptions): number {
  const examined = examineConfig(file, process.env)
  if (examined.config === null) return tellFaults(file, examined, json)
  if (json) process.stdout.write(`${JSON.stringify({ ok: true, file, faults: [] })}\n`)
  else process.stdout.write(`'${file}' is a valid configuration of node ${examined.config.node.id}.\n`)
  return EXIT.done
}

export function printConfig({ config: file, json = false }: ConfigOptions): number {
  const examined = examineConfig(file, process.env)
  if (examined.config === null) return tellFaults(file, examined, json)
  const settings = effectiveSettings(examined)
  process.stdout.write(json ? `${JSON.stringify({ file, settings })}\n` : effectiveText(settings))
  return EXIT.done
}

/** In full on standard output for a program, on standard error for a person. */
function tellFaults(file: string, { faults }: Examined, json: boolean): number {
  if (json) {
    process.stdout.write(`${JSON.stringify({ ok: false, file, faults })}\n`)
    return EXIT.usage
  }
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
  const lines = faults.map((fault) => `  ${sentenceOf(fault)}\n    ${fault.hint}\n`)
  process.stderr.write(`error: the configuration '${file}' has ${count}:\n${lines.join('')}`)
  return EXIT.usage
}
