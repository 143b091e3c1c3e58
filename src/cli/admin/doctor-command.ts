/**
 * `holdfast cluster doctor`: what the doctor finds on all members.
 *
 * Owns: how it is printed, and the exit code. Rule: an error, and a member whose answer is not known, end with 1.
 */
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { printable, printJson, printLine } from '../base/printing.ts'

export interface ClusterDoctorOptions extends AdminAccessOptions {
  readonly json?: boolean
}

type Node = AdminOperations['getClusterDoctor']['answer']['nodes'][number]

export function clusterDoctor(options: ClusterDoctorOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getClusterDoctor', {})
    if (options.json) printJson(answer)
    else for (const line of answer.nodes.flatMap(linesOf)) printLine(printable(line))
    return answer.nodes.every(isWell) ? EXIT.done : EXIT.failed
  })
}

const isWell = ({ answer, findings }: Node): boolean =>
  answer === 'known' && findings.every(({ severity }) => severity !== 'error')

const UNKNOWN = {
  unreachable: 'it did not answer in time, so nothing is known of it',
  unsupported: 'its version does not know this question, so nothing is known of it',
} as const

function linesOf({
  nodeId,
  answer,
  findings,
  notChecked,
  certificates,
  isTruncated,
}: Node): readonly string[] {
  if (answer !== 'known') return [`${nodeId}  unknown: ${UNKNOWN[answer]}`]
  const lines = findings.flatMap(({ check, severity, found, expected, action }) => [
    `${nodeId}  ${severity.padEnd(7)}  ${check}: ${found}`,
    ...(expected === null ? [] : [`           expected: ${expected}`]),
    ...(action === null ? [] : [`           do: ${action}`]),
  ])
  for (const { setting, notBefore, notAfter } of certificates)
    lines.push(`${nodeId}  certificate ${setting}: from ${notBefore} until ${notAfter}`)
  if (isTruncated) lines.push(`${nodeId}  more was found than is shown: run holdfast doctor on its machine`)
  if (notChecked.length > 0) lines.push(`${nodeId}  not checked: ${notChecked.join(', ')}`)
  return lines
}
