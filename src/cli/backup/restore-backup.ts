/** `holdfast backup restore`: lays out the data directory of a founder of a new cluster from a backup. [deploy/runbooks/restore-from-backup.md] */
import { writeFile } from 'node:fs/promises'
import { openMetadataKey } from '../../access/metadata-key.ts'
import { restoreNode } from '../../backup/restore/restore.ts'
import { prepareDataDir } from '../../service/data-dir.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson, printLine, sizeText } from '../base/printing.ts'
import { type OpenBackupOptions, withBackup } from './open-backup.ts'

export interface RestoreOptions extends OpenBackupOptions {
  readonly out?: string
}

const SHOWN_MAX = 20

export async function restoreBackup(options: RestoreOptions): Promise<number> {
  return withBackup(options, async ({ reader, config, masterKey }) => {
    const logger = createLogger({ level: 'error', nodeId: config.node.id })
    await prepareDataDir(config.node.dataDir, logger)
    const restored = await restoreNode({
      reader,
      logger,
      options: {
        clusterId: config.cluster.id,
        nodeId: config.node.id,
        dataDir: config.node.dataDir,
        blobDirectories: config.node.blobDirectories,
        members: config.cluster.members,
        fingerprint: masterKey.fingerprint,
        metadataKey: await openMetadataKey(config.node, masterKey),
      },
    })
    const { missing, damaged, lost, ...facts } = restored
    if (options.out !== undefined)
      await writeFile(options.out, `${JSON.stringify(restored, null, 2)}\n`, { mode: 0o600 })
    if (options.json) printJson(restored)
    else {
      printLine(
        `${facts.nodeId}: backup ${facts.backupId} at index ${facts.index}, ${facts.rows} rows, ${facts.copies} copies, ${sizeText(facts.copyBytes)}`,
      )
      for (const name of missing) note(`missing  ${name}`)
      for (const name of damaged) note(`damaged  ${name}`)
      for (const { tenantId, bucket, key, versionId } of lost.named.slice(0, SHOWN_MAX))
        note(`lost  ${tenantId}/${bucket}/${key}  version ${versionId}`)
      if (lost.versions > 0) note(`${lost.versions} versions are lost; --out writes the names of all of them`)
      if (lost.auditRows > 0) note(`${lost.auditRows} rows of the audit log are lost`)
    }
    return missing.length + damaged.length === 0 ? EXIT.done : EXIT.failed
  })
}
