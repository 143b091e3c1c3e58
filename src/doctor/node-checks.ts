/**
 * Judges the process on the data directory.
 *
 * Owns: the judgement. Knows nothing of: sockets, locks.
 */
import type { NodeStatus } from '../api/local/node-status.ts'
import { error, type Finding, warning, well } from './finding.ts'

export type NodeFacts =
  | { readonly kind: 'stopped' }
  /** `status` null: a node of another version that cannot report its status. */
  | { readonly kind: 'answering'; readonly status: NodeStatus | null }
  /** `pid` null: unknown. `why`: why there is no answer. */
  | { readonly kind: 'silent'; readonly pid: number | null; readonly why: string }

export function checkNode(facts: NodeFacts, version: string): readonly Finding[] {
  if (facts.kind === 'stopped') return [well('node', 'no node runs on the data directory')]
  if (facts.kind === 'silent') {
    const process = facts.pid === null ? 'a process' : `process ${facts.pid}`
    return [
      error('node', {
        found: `${process} holds the data directory and does not answer: ${facts.why}`,
        expected: 'an answer of the node, or no process on the directory',
        action: 'If it is starting, try again. Otherwise check its log, and end it if it is stuck.',
      }),
    ]
  }
  if (facts.status === null)
    return [
      warning('node', {
        found: 'a node runs that cannot report its status',
        expected: `a node of version ${version}, the version of this program`,
        action: 'Run the doctor of the version that is running, or restart the node with this version.',
      }),
    ]
  return checkStatus(facts.status, version)
}

function checkStatus(status: NodeStatus, version: string): readonly Finding[] {
  const findings: Finding[] = []
  if (!status.isReady)
    findings.push(
      error('node', {
        found: `node ${status.nodeId} (process ${status.pid}) runs and is not ready: ${status.reasons.join('; ')}`,
        expected: 'a node that is ready',
        action:
          status.hasLeft === true
            ? 'Stop this node and keep its data directory until you are sure that it is not needed; waiting changes nothing.'
            : 'See the other checks, above all peers; when a majority of the nodes runs, this node becomes ready by itself.',
      }),
    )
  if (status.version !== version)
    findings.push(
      warning('node', {
        found: `the running node has version ${status.version}`,
        expected: `${version}, the version of this program`,
        action: 'Restart the node if it should run this version.',
      }),
    )
  return findings.length > 0
    ? findings
    : [well('node', `node ${status.nodeId} (process ${status.pid}) runs and is ready`)]
}
