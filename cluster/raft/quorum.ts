/**
 * Majorities. Owns: counting over a configuration. Knows nothing of: what is counted.
 *
 * Rule: while a joint change is under way both halves must agree on their own [thesis 4.3]; learners never count.
 */
import { assert } from './assert.ts'
import { isJoint } from './configuration.ts'
import type { Configuration, LogIndex, NodeId } from './types.ts'

/** True when the members that `agrees` accepts are a majority of every half. */
export function hasQuorum(configuration: Configuration, agrees: (nodeId: NodeId) => boolean): boolean {
  return halvesOf(configuration).every((half) => half.filter(agrees).length > half.length / 2)
}

/** The highest index that a majority of every half has reached. */
export function quorumIndex(configuration: Configuration, reached: (nodeId: NodeId) => LogIndex): LogIndex {
  return Math.min(...halvesOf(configuration).map((half) => majorityIndex(half.map(reached))))
}

function majorityIndex(indexes: readonly LogIndex[]): LogIndex {
  const descending = indexes.toSorted((a, b) => b - a)
  const index = descending[Math.floor(descending.length / 2)]
  assert(index !== undefined, 'a majority needs at least one voter')
  return index
}

function halvesOf(configuration: Configuration): readonly (readonly NodeId[])[] {
  assert(configuration.voters.length > 0, 'a configuration has at least one voter')
  return isJoint(configuration) ? [configuration.voters, configuration.outgoing] : [configuration.voters]
}
