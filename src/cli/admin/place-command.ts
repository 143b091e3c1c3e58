/**
 * `holdfast cluster place`: the weight and zone of a member over what the file of its node says.
 */
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printLine, printTable, sizeText } from '../base/printing.ts'
import { type ChangeOptions, isDryRun, rehearsal, reportChange } from './outcome.ts'

export interface PlaceOptions extends AdminAccessOptions, ChangeOptions {
  readonly weight?: number
  readonly zone?: string
  /** Return to the file. */
  readonly clear?: boolean
  readonly reason?: string
}

type Answer = AdminOperations['setMemberPlacement']['answer']
type Placement = Exclude<Answer, { dryRun: boolean }>
type Plan = Extract<Answer, { dryRun: boolean }>['plan']

export function placeMember(nodeId: string, options: PlaceOptions): Promise<number> {
  const { weight, zone, clear = false, reason } = options
  if (clear === (weight !== undefined || zone !== undefined))
    throw new CommandError('Cannot place a member: nothing to set, or too much', {
      code: 'invalid_argument',
      hint: 'Give --weight, --zone or both, or --clear alone to return to the file of the node.',
      exitCode: EXIT.usage,
    })
  if (!clear && reason === undefined)
    throw new CommandError('Cannot place a member: no reason is given', {
      code: 'invalid_argument',
      hint: "Say why with --reason, for example --reason 'it has twice the disks'.",
      exitCode: EXIT.usage,
    })
  const call = { params: { nodeId }, query: rehearsal(options) }
  return askAdmin(options, async (client) => {
    if (clear) {
      const { answer } = await client.call('deleteMemberPlacement', call)
      if (answer === undefined && options.json !== true)
        note(`${nodeId} is placed as its file says; a rebalance moves the copies`)
      return reportChange<object>(withTable(answer, options), options, () => {})
    }
    const body = {
      reason: reason ?? '',
      ...(weight === undefined ? {} : { weight }),
      ...(zone === undefined ? {} : { zone }),
    }
    const { answer } = await client.call('setMemberPlacement', { ...call, body })
    return reportChange<Placement>(withTable(answer, options), options, print)
  })
}

function print({ nodeId, zone, weight, file }: Placement): void {
  printLine(
    `${nodeId} is in zone ${zone} with weight ${weight}; its file says zone ${file.zone}, weight ${file.weight}`,
  )
  note('Copies that there are move with holdfast cluster rebalance.')
}

/** Prints the nodes of a plan as a table, for people; returns the rest of the answer. */
function withTable<A extends object | undefined>(answer: A, options: ChangeOptions): A {
  if (!isDryRun(answer) || options.json === true) return answer
  const { nodes, ...figures } = answer.plan as Plan
  printTable([
    ['NODE', 'ZONE', 'WEIGHT', 'SHARE', 'GETS', 'GIVES'],
    ...nodes.map(({ nodeId, zone, weight, weightShareNow, weightShare, ...moves }) => [
      nodeId,
      zone,
      String(weight),
      `${percent(weightShareNow)} to ${percent(weightShare)}`,
      `${moves.copiesIn} of ${sizeText(moves.bytesIn)}`,
      `${moves.copiesOut} of ${sizeText(moves.bytesOut)}`,
    ]),
  ])
  return { ...answer, plan: figures }
}

const percent = (share: number): string => `${Math.round(share * 100)}%`
