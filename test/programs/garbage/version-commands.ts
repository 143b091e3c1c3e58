/**
 * Commands of gateways about versions and the upload, from the rows that they see.
 *
 * Owns: the commands. Knows nothing of: their times and outcomes.
 */
import type { Command } from '../../../src/state-machine/commands.ts'
import { put } from '../../state-machine/map-world.ts'
import { completeUpload } from '../../state-machine/upload-commands.ts'
import type { Step } from './steps.ts'
import { PART_KEY, rowsIn, rowsOf, seenBy, type World } from './world.ts'

/** The upload, as commands on its parts name it. */
export function partOf({ uploadId }: World) {
  return { tenantId: 'acme', bucket: 'photos', key: PART_KEY, uploadId: uploadId ?? 'none' }
}

export function versionCommand(
  world: World,
  step: Extract<Step, { do: 'copyVersion' | 'removeVersion' | 'complete' | 'abort' }>,
): Command {
  const rows = seenBy(world, step.node)
  switch (step.do) {
    case 'complete': {
      const parts = partsIn(rows).map(({ partNumber, etag }) => ({ partNumber, etag }))
      return completeUpload(partOf(world), 1, { parts })
    }
    case 'abort':
      return { type: 'abortUpload', ...partOf(world) }
    case 'removeVersion': {
      const { key, versionId } = step
      const isNull = [...rowsIn(rows, 'object')].some((row) => row.versionId === versionId && row.isNull)
      const name = { tenantId: 'acme', bucket: 'photos', key }
      return { type: 'deleteObject', ...name, versionId: isNull ? 'null' : versionId, ifMatch: null }
    }
    case 'copyVersion': {
      const { key, versionId } = step
      const { precondition, ...requested } = put(`k${step.node}`, { kind: 'empty' }, 0)
      const { tenantId, bucket, contentType, metadata, masterKeyId, tags, retention, legalHold } = requested
      const about = { tenantId, bucket, contentType, metadata, masterKeyId, tags, retention, legalHold }
      const source = { bucket, key, versionId }
      return { type: 'copyObject', ...about, key: requested.key, precondition, source }
    }
  }
}

function partsIn(rows: ReturnType<typeof seenBy>) {
  return [...rowsIn(rows, 'uploadPage')].flatMap(({ parts }) => parts)
}

export function releaseCommand(world: World, { node, id }: Extract<Step, { do: 'release' }>): Command {
  const parts = partsIn(seenBy(world, node)).map(({ partNumber }) => partNumber)
  return { type: 'releaseDiscarded', id, partNumbers: id === world.uploadId ? parts : [] }
}

/** Every discarded body is named: apply keeps those that are not due. */
export function releaseDueCommand(
  world: World,
  { node, upTo }: Extract<Step, { do: 'releaseDue' }>,
): Command {
  const items = [...rowsOf(seenBy(world, node), 'discarded')].map(({ discardedAt, id }) => ({
    discardedAt,
    id,
  }))
  return { type: 'releaseDue', upTo, items }
}
