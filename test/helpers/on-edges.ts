/**
 * The data listener of a test on edge threads, as many as HOLDFAST_EDGE_THREADS says; without it on the thread of the test.
 *
 * Rule: tests of the API hold either way, but for those that look into the server, or at audit rows and figures in the very moment of an answer.
 */
import type { Edge } from '../../src/api/edge.ts'
import { EdgeThreads } from '../../src/api/edge-threads/edge-threads.ts'

export function onEdges(): Pick<Edge, 'threads'> {
  const threads = Number(process.env['HOLDFAST_EDGE_THREADS'] ?? 0)
  return threads === 0 ? {} : { threads: new EdgeThreads(threads).open }
}
