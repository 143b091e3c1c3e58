/**
 * A network inside one process, for tests and simulations: makes the transports and can cut, delay and lose.
 *
 * Owns: nothing but the door; LoopbackWire decides what passes, LoopbackTransport is what a node sees of it.
 * Rule: with the same clock, random source and callers, every run is the same.
 */
import type { NodeId } from '../raft/types.ts'
import { type LoopbackNodeOptions, LoopbackTransport } from './loopback-transport.ts'
import { LoopbackWire } from './loopback-wire.ts'

export class LoopbackNetwork extends LoopbackWire<LoopbackTransport> {
  /** A node that starts again gets a new one. */
  transport(nodeId: NodeId, options: LoopbackNodeOptions): LoopbackTransport {
    return new LoopbackTransport(this, nodeId, options)
  }
}
