/**
 * Options that several commands share, and the callback by which an action sets the exit code.
 */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { WEIGHT_MAX } from '../../state-machine/members/records.ts'
import { parseBytes, parseDuration, ValueError } from '../../config/parse-value.ts'

/** An action calls it once, with the exit code of the process. */
export type Done = (exitCode: number) => void

export const dataOption = (): Option =>
  new Option('--data <dir>', 'the data directory of a node of the cluster').makeOptionMandatory()
export const configOption = (): Option =>
  new Option('--config <file>', 'the configuration of a node (YAML)').makeOptionMandatory()
export const jsonOption = (): Option => new Option('--json', 'print one JSON object')
export const jsonLinesOption = (): Option => new Option('--json', 'print one JSON object a line')
export const dryRunOption = (): Option => new Option('--dry-run', 'change nothing, print what would be done')
export const reasonOption = (): Option =>
  new Option('--reason <text>', 'why; recorded in the audit log').makeOptionMandatory()

export const addressOption = (): Option =>
  new Option(
    '--allow-address <range>',
    'usable only from there, such as 203.0.113.0/24; may be repeated',
  ).argParser(listValue)
export const certificateOption = (): Option =>
  new Option(
    '--client-certificate <name>',
    'usable only with this certificate: sha256:<fingerprint> or cn:<common name>; may be repeated',
  ).argParser(listValue)

export const clusterFileOption = (): Option =>
  new Option(
    '--cluster-file <file>',
    'the file that holdfast up wrote (default: data/cluster.json, if it exists)',
  ).env('HOLDFAST_CLUSTER_FILE')

export const caOption = (): Option =>
  new Option('--ca-file <file>', 'the CA certificate for https addresses (PEM) (env: HOLDFAST_CA_FILE)')

export const profileOption = (): Option =>
  new Option('--profile <name>', 'a profile of holdfast login (default: that of holdfast use)')

/** Those of the environment are read with the profiles, which decide whether they count. */
export const endpointOption = (flags: string): Option =>
  new Option(flags, 'data addresses of nodes, separated by commas (env: HOLDFAST_ENDPOINT)')

/** For commands that use the data API. */
export function withDataAccess(command: Command): Command {
  return command
    .addOption(endpointOption('--endpoint <urls>'))
    .addOption(caOption())
    .addOption(profileOption())
    .addOption(clusterFileOption())
}

/** For commands that use the admin API. */
export function withAdminAccess(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--admin-endpoint <urls>',
        'admin addresses of nodes, separated by commas (env: HOLDFAST_ADMIN_ENDPOINT)',
      ),
    )
    .addOption(caOption())
    .option('--token-file <file>', 'a file with an admin token (default: HOLDFAST_ADMIN_TOKEN)')
    .addOption(profileOption())
    .addOption(clusterFileOption())
}

export const tenantOption = (): Option =>
  new Option(
    '--tenant <id>',
    'the tenant (default: that of the profile or cluster file) (env: HOLDFAST_TENANT)',
  )

export function examples(...lines: readonly string[]): string {
  const heading = lines.length === 1 ? 'Example' : 'Examples'
  return `\n${heading}:\n${lines.map((line) => `  holdfast ${line}`).join('\n')}`
}

/** `64MiB` -> bytes. */
export const sizeValue = (text: string): number => parsed(() => parseBytes(text))
/** `15m` -> milliseconds. */
export const durationValue = (text: string): number => parsed(() => parseDuration(text))

export function countValue(max: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (count >= 1 && count <= max) return count
    throw new InvalidArgumentError(`expected a whole number from 1 to ${max}`)
  }
}

/** The relative share of copies of a member. */
export function weightValue(text: string): number {
  const weight = /^\d{1,4}(\.\d{1,6})?$/.test(text) ? Number(text) : -1
  if (weight >= 0 && weight <= WEIGHT_MAX) return weight
  throw new InvalidArgumentError(`expected a number from 0 to ${WEIGHT_MAX}, such as 0.5`)
}

/** No limit. A word, because commander takes a null for an option that is not given. */
export const NONE = 'none'

export function orNone(parse: (text: string) => number): (text: string) => number | typeof NONE {
  return (text) => (text === NONE ? NONE : parse(text))
}

/** For repeatable options: `--meta a=1 --meta b=2`. */
export function pairValue(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('expected a name, = and a value')
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) }
}

/** For repeatable options. */
export const listValue = (text: string, earlier: readonly string[] = []): readonly string[] => [
  ...earlier,
  text,
]

function parsed(parse: () => number): number {
  try {
    return parse()
  } catch (cause) {
    throw cause instanceof ValueError ? new InvalidArgumentError(cause.message) : cause
  }
}
