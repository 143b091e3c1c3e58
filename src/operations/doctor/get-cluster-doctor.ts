/**
 * getClusterDoctor: authorize -> ask every member what the doctor finds on it.
 *
 * Rules: a member that does not answer in time, or is of a version that does not know the question, is named and has no findings: it is unknown and never fine.
 * The members are asked by one caller at a time: others share the answer.
 */
import { adminToken } from '../../access/rights.ts'
import { Attached } from '../../base/attached.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { readSelfReport, type SelfReport } from './self-report.ts'

export interface ExaminedNode {
  readonly nodeId: string
  readonly answer: 'known' | 'unreachable' | 'unsupported'
  /** Null unless the answer is known. */
  readonly report: SelfReport | null
}

/** By the state of the node: the question that is under way. */
const ASKED = new Attached<Services['state'], Promise<readonly ExaminedNode[]>>()

export const getClusterDoctor = adminOperation(
  {
    id: 'getClusterDoctor',
    requires: adminToken('viewer', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (services): Promise<readonly ExaminedNode[]> => {
    const { state } = services
    const underWay = ASKED.get(state)
    if (underWay !== undefined) return underWay
    const asked = askAll(services).finally(() => ASKED.set(state, undefined))
    ASKED.set(state, asked)
    return asked
  },
)

async function askAll({ cluster, logger }: Services): Promise<readonly ExaminedNode[]> {
  const reports = await cluster.doctors.all()
  return reports.map(({ nodeId, bytes, why }): ExaminedNode => {
    if (bytes === null) return { nodeId, answer: why ?? 'unreachable', report: null }
    try {
      return { nodeId, answer: 'known', report: readSelfReport(bytes) }
    } catch (err) {
      logger.warn({ err, peer: nodeId }, 'findings of a member cannot be read')
      return { nodeId, answer: 'unsupported', report: null }
    }
  })
}
