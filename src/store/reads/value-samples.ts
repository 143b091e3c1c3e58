/** Metrics of the values that lie beside LevelDB. docs/formats/value-file.md */
import { counter, gauge, type MetricSample } from '../../../cluster/index.ts'
import type { StateReader } from './state-reader.ts'

/** Nothing while no state may be read. */
export function valueSamples({ usable }: Pick<StateReader, 'usable'>): readonly MetricSample[] {
  if (usable === null) return []
  const { files, bytes, liveBytes, movedBytes, filesRemoved } = usable.db.rows.files.sizes
  return [
    gauge('holdfast_state_value_files', 'Files with values of the state beside LevelDB.', files),
    gauge('holdfast_state_value_bytes', 'Bytes of these files.', bytes),
    gauge('holdfast_state_value_live_bytes', 'Bytes of them that rows point to.', liveBytes),
    counter(
      'holdfast_state_value_moved_bytes_total',
      'Bytes of values that compactions have written again since the state was opened.',
      movedBytes,
    ),
    counter(
      'holdfast_state_value_files_removed_total',
      'Files with values that were removed since the state was opened.',
      filesRemoved,
    ),
  ]
}
