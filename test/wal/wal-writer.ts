/**
 * A process that appends to a log until it is killed, and prints the last acknowledged index.
 */
import { ThreadWal } from '../../cluster/wal/thread-wal.ts'

const IN_FLIGHT_MAX = 8
const [dir = ''] = process.argv.slice(2)
const wal = new ThreadWal({
  dir,
  clusterId: 'cluster-1',
  nodeId: 'node-a',
  incarnation: 'first',
  segmentBytesMax: 64 * 1024,
  reserveBytes: 0,
})
let next = 0

function appendOne(): void {
  next++
  const data = new Uint8Array((next * 37) % 3000).fill(next % 251)
  wal.append({
    sequence: next,
    hardState: null,
    base: null,
    entries: [{ index: next, term: 1, kind: 'command', data }],
  })
}

const content = await wal.open({
  onDurable(sequence) {
    process.stdout.write(`${sequence}\n`)
    appendOne()
  },
  onFatal(error) {
    throw error
  },
  onDiskFull() {},
})
next = content.entries.length
for (let count = 0; count < IN_FLIGHT_MAX; count++) appendOne()
