/**
 * `holdfast cluster plan-placement`: what would move with other weights and zones, added up over all answers.
 */
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson, printLine, printTable, sizeText } from '../base/printing.ts'

export interface PlanPlacementOptions extends AdminAccessOptions {
  readonly weight?: Readonly<Record<string, string>>
  readonly zone?: Readonly<Record<string, string>>
  readonly tenant?: string
  readonly bucket?: string
  readonly json?: boolean
}

type Call = AdminOperations['planClusterPlacement']['call']['body']
type Answer = AdminOperations['planClusterPlacement']['answer']
export type Plan = Omit<Answer, 'isTruncated' | 'nextContinuationToken'>
type Moves = Plan['nodes'][number]

export function planPlacement(options: PlanPlacementOptions): Promise<number> {
  const { tenant, bucket } = options
  const about: Call = {
    members: changesIn(options),
    ...(tenant === undefined ? {} : { tenantId: tenant }),
    ...(bucket === undefined ? {} : { bucket }),
  }
  return askAdmin(options, async (client) => {
    let [plan, token]: [Plan | null, string | undefined] = [null, undefined]
    do {
      const from: Partial<Call> = token === undefined ? {} : { continuationToken: token }
      const { answer } = await client.call('planClusterPlacement', { body: { ...about, ...from } })
      plan = plan === null ? withoutPage(answer) : addPlans(plan, answer)
      token = answer.nextContinuationToken
    } while (token !== undefined)
    if (options.json) printJson(plan)
    else print(plan)
    return plan.blockers.length > 0 ? EXIT.refused : EXIT.done
  })
}

function changesIn({ weight = {}, zone = {} }: PlanPlacementOptions): Call['members'] {
  const names = [...new Set([...Object.keys(weight), ...Object.keys(zone)])]
  return names.map((nodeId) => {
    const [text, place] = [weight[nodeId], zone[nodeId]]
    const change = { nodeId, ...(place === undefined ? {} : { zone: place }) }
    if (text === undefined) return change
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value))
      throw new CommandError(`'${text}' is no weight`, {
        code: 'invalid_argument',
        hint: `Give a number from 0 to 1000, for example --weight ${nodeId}=2.`,
        exitCode: EXIT.usage,
      })
    return { ...change, weight: value }
  })
}

function withoutPage(answer: Answer): Plan {
  const { chunks, chunksToMove, copiesToMake, bytesToMove, singleZones, secondsAtRepairRate } = answer
  const { nodes, blockers, warnings } = answer
  const sums = { chunks, chunksToMove, copiesToMake, bytesToMove, singleZones, secondsAtRepairRate }
  return { ...sums, nodes, blockers, warnings }
}

/** Warnings about space are those of the single answers. */
function addPlans(one: Plan, other: Plan): Plan {
  const seconds = [one.secondsAtRepairRate, other.secondsAtRepairRate]
  return {
    chunks: one.chunks + other.chunks,
    chunksToMove: one.chunksToMove + other.chunksToMove,
    copiesToMake: one.copiesToMake + other.copiesToMake,
    bytesToMove: one.bytesToMove + other.bytesToMove,
    singleZones: one.singleZones + other.singleZones,
    secondsAtRepairRate: seconds.includes(null) ? null : (seconds[0] ?? 0) + (seconds[1] ?? 0),
    nodes: one.nodes.map((node) =>
      addMoves(
        node,
        other.nodes.find(({ nodeId }) => nodeId === node.nodeId),
      ),
    ),
    blockers: one.blockers,
    warnings: [...new Set([...one.warnings, ...other.warnings])],
  }
}

function addMoves(one: Moves, other: Moves | undefined): Moves {
  return {
    ...one,
    copiesIn: one.copiesIn + (other?.copiesIn ?? 0),
    bytesIn: one.bytesIn + (other?.bytesIn ?? 0),
    copiesOut: one.copiesOut + (other?.copiesOut ?? 0),
    bytesOut: one.bytesOut + (other?.bytesOut ?? 0),
  }
}

function print({ nodes, blockers, warnings, secondsAtRepairRate, ...sums }: Plan): void {
  const time = secondsAtRepairRate === null ? '' : `, ${secondsAtRepairRate} s at the rate of repair`
  printLine(
    `a rebalance would make ${sums.copiesToMake} copies of ${sizeText(sums.bytesToMove)} for ${sums.chunksToMove} of ${sums.chunks} chunks${time}`,
  )
  printTable([
    ['NODE', 'ZONE', 'WEIGHT', 'GETS', 'GIVES'],
    ...nodes.map(({ nodeId, zone, weight, ...moves }) => [
      nodeId,
      zone,
      String(weight),
      `${moves.copiesIn} of ${sizeText(moves.bytesIn)}`,
      `${moves.copiesOut} of ${sizeText(moves.bytesOut)}`,
    ]),
  ])
  for (const { code, message } of blockers) note(`blocked by ${code}: ${message}`)
  for (const warning of warnings) note(`warning: ${warning}`)
}
