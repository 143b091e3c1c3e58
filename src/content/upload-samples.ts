/** The figures of uploads in memory, for /metrics. */
import type { MetricSample } from '../../cluster/index.ts'
import type { UploadMemory } from './upload-memory.ts'

export function uploadSamples(memory: UploadMemory, chunksHeld: number): readonly MetricSample[] {
  return [
    gauge('upload_memory_bytes', 'Memory of limits.upload_memory that is held.', memory.bytes),
    gauge('upload_memory_limit_bytes', 'limits.upload_memory.', memory.bytesMax),
    gauge('uploads_waiting', 'Uploads that wait for memory, and their clients with them.', memory.waiting),
    gauge(
      'oldest_chunk_seconds',
      'How long the oldest chunk of an upload has been in memory, from its first byte on.',
      memory.oldestMs / 1000,
    ),
    gauge(
      'chunks_sealing',
      'Whole chunks that are sealed and stored now, of limits.chunk_buffers.',
      chunksHeld,
    ),
    {
      name: 'holdfast_content_uploads_preempted_total',
      kind: 'counter',
      help: 'Slow uploads that gave way to others that waited for memory.',
      value: memory.preempted,
    },
  ]
}

function gauge(name: string, help: string, value: number): MetricSample {
  return { name: `holdfast_content_${name}`, kind: 'gauge', help, value }
}
