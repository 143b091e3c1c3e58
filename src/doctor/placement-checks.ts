/**
 * Judges the place and the disks of the running node.
 *
 * Owns: the judgement. Knows nothing of: sockets.
 */
import type { NodePlacement } from '../api/local/node-placement.ts'
import type { DiskPart } from '../../cluster/index.ts'
import { error, type Finding, warning, well } from './finding.ts'

export function checkPlacement(facts: NodePlacement | null): readonly Finding[] {
  if (facts === null) return []
  return [...checkPlace(facts.place), ...checkDisks(facts.disks)]
}

function checkPlace(place: NodePlacement['place']): readonly Finding[] {
  if (place === null) return []
  const { zone, weight, file } = place
  if (zone === file.zone && weight === file.weight)
    return [
      well('placement', `this node is in zone ${zone} with weight ${weight}, as its configuration says`),
    ]
  return [
    warning('placement', {
      found: `the cluster holds zone ${zone} and weight ${weight} for this node`,
      expected: `zone ${file.zone} and weight ${file.weight}, as its configuration says`,
      action:
        'Nothing if an operator set it so. holdfast cluster place NODE --clear returns to the configuration.',
    }),
  ]
}

const OUT: readonly string[] = ['absent', 'foreign', 'failed']

function checkDisks(disks: NodePlacement['disks']): readonly Finding[] {
  if (disks === null || disks.length === 0) return []
  const findings = disks.flatMap(judged)
  return findings.length > 0 ? findings : [well('disks', `${disks.length} disks for blobs are in use`)]
}

function judged({ directory, status, doubt }: DiskPart): readonly Finding[] {
  if (OUT.includes(status))
    return [
      error('disks', {
        found: `the disk at ${directory} is ${status}`,
        expected: 'a disk in use',
        action: 'Mount or replace it, see deploy/runbooks/replace-a-disk.md.',
      }),
    ]
  if (doubt === undefined || status === 'draining' || status === 'drained') return []
  const found = doubt === 'errors' ? 'has returned errors' : 'takes a second and more for a flush'
  return [
    warning('disks', {
      found: `the disk at ${directory} ${found}`,
      expected: 'no errors, and quick flushes',
      action: 'Drain it while it can be read, see deploy/runbooks/drain-a-disk.md.',
    }),
  ]
}
