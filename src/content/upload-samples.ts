/** The figures of uploads in memory, for /metrics. */
import { counter, gauge, histogram, type MetricSample } from '../../cluster/index.ts'
import type { UploadMemory } from './upload-memory.ts'

export function uploadSamples(memory: UploadMemory, chunksHeld: number): readonly MetricSample[] {
  return [
    gauge(
      'holdfast_content_upload_memory_bytes',
      'Memory of limits.upload_memory that is held.',
      memory.bytes,
    ),
    gauge('holdfast_content_upload_memory_limit_bytes', 'limits.upload_memory.', memory.bytesMax),
    gauge(
      'holdfast_content_uploads_waiting',
      'Uploads that wait for memory, and their clients with them.',
      memory.waiting,
    ),
    histogram(
      'holdfast_content_upload_wait_duration_seconds',
      'How long uploads waited for memory for a chunk; those that did not wait are not counted.',
      memory.waits.figures(),
    ),
    gauge(
      'holdfast_content_oldest_chunk_seconds',
      'How long the oldest chunk of an upload has been in memory, from its first byte on.',
      memory.oldestMs / 1000,
    ),
    gauge(
      'holdfast_content_chunks_sealing',
      'Whole chunks that are sealed and stored now, of limits.chunk_buffers.',
      chunksHeld,
    ),
    counter(
      'holdfast_content_uploads_preempted_total',
      'Slow uploads that gave way to others that waited for memory.',
      memory.preempted,
    ),
  ]
}
