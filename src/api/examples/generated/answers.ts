/**
 * What the examples were answered, with times, ids and secrets replaced. Made by `node test/api/examples.test.ts --rewrite`.
 */
export const ANSWERS: Readonly<Record<string, unknown>> = {
  "adminHealthz": {
    "status": "ok"
  },
  "adminReadyz": {
    "status": "ready"
  },
  "approveChange": {
    "approvalId": "apr_5e0f3c1a9b7d2468ace01357",
    "operation": "deleteTenant",
    "tenantId": "acme",
    "status": "approved",
    "change": {
      "operation": "deleteTenant",
      "tenantId": "acme",
      "reason": "The contract has ended"
    },
    "requestedBy": {
      "type": "adminToken",
      "id": "adm_0123456789abcdef"
    },
    "requestedAt": "2026-11-21T12:00:00.000Z",
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "approvedBy": "adm_0123456789abcdef",
    "approvedAt": "2026-11-21T12:00:00.000Z"
  },
  "batchDeleteObjects": {
    "results": [
      {
        "key": "2026/copy.txt",
        "deleted": true,
        "status": 204,
        "deleteMarker": true,
        "deleteMarkerVersionId": "01KAEXAMPLEVERSIONEXAMPLEA"
      },
      {
        "key": "2026/dog.txt",
        "deleted": true,
        "status": 204,
        "deleteMarker": true,
        "deleteMarkerVersionId": "01KAEXAMPLEVERSIONEXAMPLEA"
      }
    ],
    "deletedCount": 2,
    "errorCount": 0
  },
  "cancelBackup": {
    "operationId": "op_example",
    "type": "backup",
    "status": "cancelled",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "Before the upgrade",
    "tenantId": null,
    "bucket": null,
    "backupId": "20261128t015829z-adaf5b24",
    "target": "directory:weekly",
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": null,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": "2026-11-21T12:00:00.000Z",
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "cancelDiskDrain": {
    "dryRun": true,
    "operation": "cancelDiskDrain",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "directory": "/mnt/disk2/holdfast",
      "status": "serving",
      "copies": 120,
      "bytes": 31457280,
      "isComplete": true,
      "roomBytes": 1000000000000
    },
    "warnings": [],
    "blockers": []
  },
  "cancelOperation": {
    "operationId": "op_example",
    "type": "rebalance",
    "status": "cancelled",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "A disk was added",
    "tenantId": "acme",
    "bucket": "photos",
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": 50000000,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": "2026-11-21T12:00:00.000Z",
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "compareBucketReplication": {
    "compared": 3,
    "differences": [
      {
        "key": "2026/cat.txt",
        "difference": "missing"
      },
      {
        "key": "2026/copy.txt",
        "difference": "missing"
      },
      {
        "key": "2026/dog.txt",
        "difference": "missing"
      }
    ],
    "isTruncated": false
  },
  "completeMultipartUpload": {
    "bucket": "photos",
    "key": "2026/film.txt",
    "versionId": "01KAEXAMPLEVERSIONEXAMPLEA",
    "isLatest": true,
    "size": 16,
    "contentLength": 16,
    "etag": "0123456789abcdef0123456789abcdef-1",
    "contentType": "text/plain",
    "lastModified": "2026-11-21T12:00:00.000Z",
    "storageClass": "STANDARD",
    "checksums": {
      "CRC32C": "+6oWUA==",
      "CRC64NVME": "/MMedV/0YKM="
    },
    "checksumType": "FULL_OBJECT",
    "encryption": {
      "status": "encrypted",
      "algorithm": "AES256-GCM",
      "keyId": "mk-test"
    },
    "compression": {
      "status": "none"
    },
    "retention": {
      "mode": "GOVERNANCE",
      "retainUntil": "2026-11-21T12:00:00.000Z"
    },
    "legalHold": {
      "status": "OFF"
    },
    "metadata": {},
    "tagCount": 1,
    "partsCount": 1
  },
  "confirmClusterTime": {
    "dryRun": true,
    "operation": "confirmClusterTime",
    "tenantId": null,
    "allowed": false,
    "plan": {
      "nodeId": "n1",
      "logTime": "2026-11-21T12:00:00.000Z",
      "confirmedTime": "2026-11-21T12:00:00.000Z",
      "withheldMs": 0,
      "majorityTime": "2026-11-21T12:00:00.000Z",
      "offsetMs": 0,
      "offsets": []
    },
    "warnings": [
      "Retention, uploads and audit rows end by the confirmed time, for good"
    ],
    "blockers": [
      {
        "code": "nothing_withheld",
        "message": "Cannot confirm the time: nothing of it is withheld"
      }
    ]
  },
  "copyObject": {
    "bucket": "photos",
    "key": "2026/copy.txt",
    "versionId": "01KAEXAMPLEVERSIONEXAMPLEA",
    "isLatest": true,
    "size": 5,
    "contentLength": 5,
    "etag": "0123456789abcdef0123456789abcdef-1",
    "contentType": "text/plain",
    "lastModified": "2026-11-21T12:00:00.000Z",
    "storageClass": "STANDARD",
    "checksums": {
      "SHA256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
      "CRC64NVME": "M3eFcAZSQlc="
    },
    "checksumType": "FULL_OBJECT",
    "encryption": {
      "status": "encrypted",
      "algorithm": "AES256-GCM",
      "keyId": "mk-test"
    },
    "compression": {
      "status": "none"
    },
    "retention": {
      "mode": "GOVERNANCE",
      "retainUntil": "2026-11-21T12:00:00.000Z"
    },
    "legalHold": {
      "status": "OFF"
    },
    "metadata": {},
    "tagCount": 1,
    "partsCount": 1
  },
  "createBackup": {
    "operationId": "op_example",
    "type": "backup",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "Before the upgrade",
    "tenantId": null,
    "bucket": null,
    "backupId": "20261128t015829z-adaf5b24",
    "target": "directory:weekly",
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": null,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "createBucket": {
    "name": "photos",
    "tenantId": "acme",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "versioning": "Enabled",
    "objectLockEnabled": true,
    "defaultRetention": null,
    "visibility": "private",
    "hasCors": false,
    "hasNotifications": false
  },
  "createLeavingTenant": {
    "id": "former",
    "name": "Former Ltd.",
    "status": "active",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "disabledAt": null,
    "disabledReason": null,
    "deletedAt": null
  },
  "createMultipartUpload": {
    "bucket": "photos",
    "key": "2026/film.txt",
    "uploadId": "mpu_01KAEXAMPLEUPLOADEXAMPLEAA",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "expiresAt": "2026-11-21T12:00:00.000Z"
  },
  "createTemporaryToken": {
    "token": "svctmp_eyJ2IjoxLCJ0eXAiOiJ0bXAiLCJhayI6IkFLWFFINlZTWEZRUEc1S0RMTlNGIiwia3YiOjEsInRpZCI6ImFjbWUiLCJpYXQiOjE3OTU4MzExMDYsImV4cCI6MTc5NTgzMjAwNiwianRpIjoieUtjcHhaeVphdnRXIiwic2NwIjoib3A9cmVhZDpidWNrZXQ9cGhvdG9zOnByZWZpeD0yMDI2LyIsInNuIjoiYnVpbGQtMTcifQ.DCIbDaAHMgJB0kPl5Iawn7iZqULudohU19-PlU_mrJc",
    "tokenType": "Bearer",
    "expiresIn": 900,
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "accessKeyId": "AKEXAMPLEEXAMPLEEXAM",
    "tenantId": "acme",
    "sessionName": "build-17",
    "scopes": "op=read:bucket=photos:prefix=2026/"
  },
  "createTenant": {
    "id": "acme",
    "name": "Acme Inc.",
    "status": "active",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "disabledAt": null,
    "disabledReason": null,
    "deletedAt": null
  },
  "createTenantAccount": {
    "id": "acc_01KAEXAMPLEACCOUNTEXAMPLE",
    "tenantId": "acme",
    "name": "ci",
    "description": "Uploads what the builds make",
    "status": "active",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "keyCount": 0
  },
  "createTenantKey": {
    "accessKeyId": "AKEXAMPLEEXAMPLEEXAM",
    "tenantId": "acme",
    "accountId": "acc_01KAEXAMPLEACCOUNTEXAMPLE",
    "name": "gallery",
    "scopes": "read,write,delete,admin",
    "status": "active",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "rotatedAt": null,
    "revokedAt": null,
    "revokedReason": null,
    "lastUsedAt": null,
    "version": 1,
    "secretKey": "shown-once-and-never-again"
  },
  "createToken": {
    "token": "svctk_eyJ2IjoxfQ.c2lnbmF0dXJl",
    "tokenType": "Bearer",
    "expiresIn": 3600,
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "accessKeyId": "AKEXAMPLEEXAMPLEEXAM",
    "tenantId": "acme"
  },
  "deleteMemberPlacement": {
    "dryRun": true,
    "operation": "deleteMemberPlacement",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "chunks": 0,
      "chunksToMove": 0,
      "copiesToMake": 0,
      "bytesToMove": 0,
      "singleZones": 0,
      "nodes": [
        {
          "nodeId": "n1",
          "copiesIn": 0,
          "bytesIn": 0,
          "copiesOut": 0,
          "bytesOut": 0,
          "zone": "rack-1",
          "weight": 1,
          "weightShareNow": 0.3333333333333333,
          "weightShare": 0.3333333333333333
        },
        {
          "nodeId": "n2",
          "copiesIn": 0,
          "bytesIn": 0,
          "copiesOut": 0,
          "bytesOut": 0,
          "zone": "rack-1",
          "weight": 1,
          "weightShareNow": 0.3333333333333333,
          "weightShare": 0.3333333333333333
        },
        {
          "nodeId": "n3",
          "copiesIn": 0,
          "bytesIn": 0,
          "copiesOut": 0,
          "bytesOut": 0,
          "zone": "rack-1",
          "weight": 1,
          "weightShareNow": 0.3333333333333333,
          "weightShare": 0.3333333333333333
        }
      ],
      "isComplete": true,
      "secondsAtRepairRate": 0
    },
    "warnings": [],
    "blockers": []
  },
  "deleteTenant": {
    "operationId": "op_example",
    "type": "tenantDeletion",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "The contract has ended",
    "tenantId": "former",
    "bucket": null,
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": null,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "demoteVoter": {
    "dryRun": true,
    "operation": "demoteVoter",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "steps": [
        {
          "step": "now",
          "voters": [
            "n1",
            "n2",
            "n3"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "learner",
          "voters": [
            "n1",
            "n2"
          ],
          "majority": 2,
          "failureTolerance": 0
        },
        {
          "step": "drained",
          "voters": [
            "n1",
            "n2"
          ],
          "majority": 2,
          "failureTolerance": 0
        }
      ],
      "copiesToMove": 0,
      "bytesToMove": 0,
      "lastCopies": 0,
      "isComplete": true,
      "newcomer": null
    },
    "warnings": [
      "This cannot be taken back: once the vote of \"n3\" has moved, neither its name nor its data directory gets one again; until then the operation can be cancelled",
      "Afterwards 0 of 2 voters may fail, now 1 may",
      "2 voters bear no more failures than 1"
    ],
    "blockers": []
  },
  "disableTenant": {
    "id": "former",
    "name": "Former Ltd.",
    "status": "disabled",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "disabledAt": "2026-11-21T12:00:00.000Z",
    "disabledReason": "The contract has ended",
    "deletedAt": null
  },
  "drainDisk": {
    "dryRun": true,
    "operation": "drainDisk",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "directory": "/mnt/disk2/holdfast",
      "status": "draining",
      "copies": 120,
      "bytes": 31457280,
      "isComplete": true,
      "roomBytes": 1000000000000
    },
    "warnings": [],
    "blockers": []
  },
  "exchangeDataKey": {
    "operationId": "op_example",
    "type": "keyExchange",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "Yearly exchange",
    "tenantId": "acme",
    "bucket": null,
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": 100000000,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 62,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "getApproval": {
    "approvalId": "apr_5e0f3c1a9b7d2468ace01357",
    "operation": "deleteTenant",
    "tenantId": "acme",
    "status": "waiting",
    "change": {
      "operation": "deleteTenant",
      "tenantId": "acme",
      "reason": "The contract has ended"
    },
    "requestedBy": {
      "type": "adminToken",
      "id": "adm_0123456789abcdef"
    },
    "requestedAt": "2026-11-21T12:00:00.000Z",
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "approvedBy": null,
    "approvedAt": null
  },
  "getBackupSchedule": {
    "name": "nightly",
    "target": "nas",
    "tenantId": null,
    "when": "30 2 * * *",
    "keep": {
      "last": 0,
      "hourly": 0,
      "daily": 7,
      "weekly": 4,
      "monthly": 12,
      "yearly": 0
    },
    "paused": false,
    "maxBytesPerSecond": null,
    "failures": 0,
    "nextRunAt": "2026-11-21T12:00:00.000Z",
    "run": null,
    "last": null,
    "lastGood": null,
    "updatedAt": "2026-11-21T12:00:00.000Z"
  },
  "getBackupTarget": {
    "name": "nas",
    "updatedAt": "2026-11-21T12:00:00.000Z",
    "directory": {
      "folder": "weekly"
    },
    "s3": null
  },
  "getBucket": {
    "name": "photos",
    "tenantId": "acme",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "versioning": "Enabled",
    "objectLockEnabled": true,
    "defaultRetention": null,
    "visibility": "private",
    "hasCors": false,
    "hasNotifications": false
  },
  "getBucketCORS": {
    "rules": [
      {
        "id": "app",
        "allowedOrigins": [
          "https://app.example.com"
        ],
        "allowedMethods": [
          "GET",
          "PUT"
        ],
        "allowedHeaders": [
          "content-type"
        ],
        "exposeHeaders": [
          "ETag"
        ],
        "maxAgeSeconds": 600
      }
    ]
  },
  "getBucketLifecycle": {
    "rules": [
      {
        "id": "tmp",
        "status": "Enabled",
        "filter": {
          "prefix": "tmp/",
          "tags": {
            "keep": "no"
          }
        },
        "expiration": {
          "days": 30
        },
        "noncurrentVersionExpiration": {
          "noncurrentDays": 7,
          "newerNoncurrentVersions": 3
        }
      }
    ]
  },
  "getBucketNotifications": {
    "configs": [
      {
        "id": "thumbs",
        "kind": "webhook",
        "url": "https://hooks.example/pictures",
        "events": [
          "object-created"
        ],
        "prefix": "2026/",
        "suffix": "",
        "enabled": true,
        "payloadFormat": "native",
        "hasSecret": true,
        "suspended": false,
        "suspensionReason": "",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "updatedAt": "2026-11-21T12:00:00.000Z",
        "pendingCount": 0,
        "deadCount": 0,
        "droppedCount": 0,
        "droppedAt": null
      }
    ]
  },
  "getBucketObjectLock": {
    "objectLockEnabled": true,
    "defaultRetention": {
      "mode": "GOVERNANCE",
      "days": 30
    }
  },
  "getBucketReplication": {
    "target": {
      "endpoint": "https://s3.other-site.example",
      "bucket": "photos-copy",
      "region": "us-east-1",
      "virtualHost": false,
      "accessKeyId": "AKOTHERSITE"
    },
    "rules": [
      {
        "id": "all-but-drafts",
        "status": "Enabled",
        "filter": {
          "prefix": "2026/"
        },
        "deletes": "markers"
      }
    ],
    "ofTenant": false,
    "updatedAt": "2026-11-21T12:00:00.000Z"
  },
  "getBucketUsage": {
    "bucket": "photos",
    "asOf": "2026-11-21T12:00:00.000Z",
    "objects": 3,
    "versions": 3,
    "deleteMarkers": 0,
    "logicalBytes": 14,
    "multipartUploads": 0,
    "multipartBytes": 0
  },
  "getBucketVersioning": {
    "status": "Enabled"
  },
  "getChanges": {
    "cursor": "0oep-pB1NjI0Q4Zu.xRtpLLb1dw1SAwQB.ZD1UNxBCluIdkG7L",
    "changed": [
      "membership",
      "operations",
      "backups"
    ]
  },
  "getClusterBackup": {
    "backupId": "20261127t120000z-0123abcd",
    "clusterId": "memory-cluster",
    "tenantId": null,
    "version": "0.0.0",
    "index": 7,
    "featureLevel": 7,
    "checksum": "0000000000000000000000000000000000000000000000000000000000000000",
    "rows": 2,
    "chunks": 0,
    "chunkBytes": 0,
    "cutAt": "2026-11-21T12:00:00.000Z",
    "startedAt": "2026-11-21T12:00:00.000Z",
    "finishedAt": "2026-11-21T12:00:00.000Z",
    "sentChunks": 0,
    "sentBytes": 0,
    "missingCount": 0,
    "missing": [],
    "verification": null
  },
  "getClusterDoctor": {
    "nodes": [
      {
        "nodeId": "n1",
        "answer": "known",
        "findings": [
          {
            "check": "peer_tls",
            "severity": "warning",
            "found": "peer_tls.cert (/etc/holdfast/n1.pem) expires in 12 days, at 2026-12-03T12:00:00Z",
            "expected": "at least 30 days",
            "action": "Issue it again under the same path (deploy/runbooks/rotate-certificates.md)."
          }
        ],
        "notChecked": [
          "disk_speed"
        ],
        "certificates": [
          {
            "setting": "peer_tls.cert",
            "notBefore": "2026-11-21T12:00:00.000Z",
            "notAfter": "2026-11-21T12:00:00.000Z",
            "term": "endsSoon"
          }
        ],
        "isTruncated": false
      },
      {
        "nodeId": "n2",
        "answer": "unreachable",
        "findings": [],
        "notChecked": [],
        "certificates": [],
        "isTruncated": false
      }
    ]
  },
  "getClusterEncryption": {
    "nodeId": "n1",
    "provider": "file",
    "secretsLeft": null,
    "metadataSealed": false,
    "sealingKey": {
      "id": "mk-test",
      "fingerprint": "d397f9865c8f48f9e252e1a0fc0122ad7e63b19d0a47b34a415f6daa797daf31"
    },
    "nextKey": null,
    "waitsFor": [],
    "members": [
      {
        "nodeId": "n1",
        "keys": [
          {
            "id": "mk-test",
            "fingerprint": "d397f9865c8f48f9e252e1a0fc0122ad7e63b19d0a47b34a415f6daa797daf31"
          }
        ]
      },
      {
        "nodeId": "n2",
        "keys": null
      },
      {
        "nodeId": "n3",
        "keys": null
      }
    ]
  },
  "getClusterHistory": {
    "range": "hour",
    "source": "nodes",
    "everySeconds": 10,
    "points": 360,
    "from": "2026-11-21T12:00:00.000Z",
    "ranges": [
      "hour"
    ],
    "nodes": [
      {
        "nodeId": "n1",
        "reachable": false,
        "series": null
      }
    ]
  },
  "getClusterMembership": {
    "clusterId": "memory-cluster",
    "authoritative": true,
    "term": 1,
    "configIndex": 1,
    "committedIndex": 1,
    "leaderId": "n1",
    "featureLevel": 2,
    "quorum": 2,
    "failureTolerance": 1,
    "changeInProgress": null,
    "reasons": [],
    "members": [
      {
        "peerAddress": "10.0.0.1:9002",
        "dataAddress": null,
        "adminAddress": null,
        "zone": "rack-1",
        "weight": 1,
        "incarnation": null,
        "version": null,
        "nodeId": "n1",
        "phase": "active",
        "role": "voter",
        "isLeader": true,
        "reachable": true,
        "lastContactMs": 0,
        "matchIndex": 1,
        "disk": {
          "totalBytes": 4000000000000,
          "usedBytes": 1500000000000
        },
        "blobs": {
          "replicas": 0,
          "lastCopies": 0,
          "countedAt": "2026-11-21T12:00:00.000Z"
        },
        "drained": false,
        "featureLevel": 2,
        "recoveryEpoch": null,
        "stateEqual": null,
        "addedAt": "2026-11-21T12:00:00.000Z"
      },
      {
        "peerAddress": "10.0.0.2:9002",
        "dataAddress": null,
        "adminAddress": null,
        "zone": "rack-1",
        "weight": 1,
        "incarnation": null,
        "version": null,
        "nodeId": "n2",
        "phase": "active",
        "role": "voter",
        "isLeader": false,
        "reachable": true,
        "lastContactMs": 20,
        "matchIndex": 1,
        "disk": null,
        "blobs": {
          "replicas": 0,
          "lastCopies": 0,
          "countedAt": "2026-11-21T12:00:00.000Z"
        },
        "drained": false,
        "featureLevel": 2,
        "recoveryEpoch": null,
        "stateEqual": null,
        "addedAt": "2026-11-21T12:00:00.000Z"
      },
      {
        "peerAddress": "10.0.0.3:9002",
        "dataAddress": null,
        "adminAddress": null,
        "zone": "rack-1",
        "weight": 1,
        "incarnation": null,
        "version": null,
        "nodeId": "n3",
        "phase": "active",
        "role": "voter",
        "isLeader": false,
        "reachable": false,
        "lastContactMs": 60000,
        "matchIndex": 1,
        "disk": null,
        "blobs": {
          "replicas": 0,
          "lastCopies": 0,
          "countedAt": "2026-11-21T12:00:00.000Z"
        },
        "drained": false,
        "featureLevel": null,
        "recoveryEpoch": null,
        "stateEqual": null,
        "addedAt": "2026-11-21T12:00:00.000Z"
      }
    ],
    "departed": [],
    "recoveries": []
  },
  "getClusterPlacement": {
    "chunks": 0,
    "bytes": 0,
    "held": {
      "copies": 0,
      "bytes": 0
    },
    "owed": {
      "copies": 0,
      "bytes": 0
    },
    "singleCopies": 0,
    "singleZones": 0,
    "nodes": [
      {
        "nodeId": "n1",
        "zone": "rack-1",
        "weight": 1,
        "weightShare": 0.3333333333333333,
        "copies": 0,
        "bytes": 0,
        "bytesShare": 0,
        "owed": {
          "copies": 0,
          "bytes": 0
        },
        "disks": [
          {
            "directory": "/mnt/disk1/holdfast",
            "diskId": "00000000000000000000000000000000",
            "status": "serving",
            "level": "open",
            "totalBytes": 4000000000000,
            "freeBytes": 2500000000000,
            "isSuspect": false
          },
          {
            "directory": "/mnt/disk2/holdfast",
            "diskId": "5e0f3c1a9b7d2468ace0135724681357",
            "status": "draining",
            "level": "open",
            "totalBytes": 4000000000000,
            "freeBytes": 2500000000000,
            "isSuspect": false
          }
        ]
      },
      {
        "nodeId": "n2",
        "zone": "rack-1",
        "weight": 1,
        "weightShare": 0.3333333333333333,
        "copies": 0,
        "bytes": 0,
        "bytesShare": 0,
        "owed": {
          "copies": 0,
          "bytes": 0
        },
        "disks": null
      },
      {
        "nodeId": "n3",
        "zone": "rack-1",
        "weight": 1,
        "weightShare": 0.3333333333333333,
        "copies": 0,
        "bytes": 0,
        "bytesShare": 0,
        "owed": {
          "copies": 0,
          "bytes": 0
        },
        "disks": null
      }
    ],
    "zones": [
      {
        "zone": "rack-1",
        "weightShare": 1,
        "copies": 0,
        "bytes": 0,
        "bytesShare": 0
      }
    ],
    "skew": null,
    "isTruncated": false
  },
  "getClusterTime": {
    "nodeId": "n1",
    "logTime": "2026-11-21T12:00:00.000Z",
    "confirmedTime": "2026-11-21T12:00:00.000Z",
    "withheldMs": 0,
    "majorityTime": "2026-11-21T12:00:00.000Z",
    "offsetMs": 0,
    "offsets": []
  },
  "getObject": "hell",
  "getObjectLegalHold": {
    "status": "ON"
  },
  "getObjectRetention": {
    "mode": "GOVERNANCE",
    "retainUntil": "2026-11-21T12:00:00.000Z"
  },
  "getObjectTags": {
    "tags": {
      "animal": "cat",
      "mood": "sleepy"
    }
  },
  "getOperation": {
    "operationId": "op_example",
    "type": "rebalance",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "A disk was added",
    "tenantId": "acme",
    "bucket": "photos",
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": 50000000,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "getRepair": {
    "maxBytesPerSecond": null,
    "collection": {
      "halted": null,
      "resumed": null
    },
    "lastRecount": null,
    "nodes": [
      {
        "nodeId": "n1",
        "reachable": false,
        "pending": null,
        "waitingForDisk": null,
        "scrub": null,
        "inventory": null,
        "directoriesLost": null,
        "disk": null
      }
    ]
  },
  "getReplicationStatus": {
    "pending": 0,
    "pendingBytes": 0,
    "lagSeconds": 0,
    "oldestAt": null,
    "failed": 0,
    "sent": 0,
    "sentBytes": 0,
    "skipped": 0,
    "conflicts": 0,
    "notReplicable": 0,
    "dropped": 0,
    "unreachableSince": null,
    "nextAttemptAt": null,
    "lastError": null,
    "lastSentAt": null,
    "resync": null,
    "failures": []
  },
  "getSession": {
    "tokenId": "adm_0123456789abcdef",
    "name": "owner",
    "role": "owner",
    "tenantId": null,
    "mayMakeKeys": true,
    "expiresAt": null,
    "user": null,
    "operations": [
      "adminHealthz",
      "adminReadyz",
      "getAdminOpenAPI",
      "getMetrics",
      "getSession",
      "listTenants",
      "createTenant",
      "getTenant",
      "disableTenant",
      "deleteTenant",
      "getTenantEncryption",
      "exchangeDataKey",
      "getClusterEncryption",
      "getTenantReplication",
      "setTenantReplication",
      "deleteTenantReplication",
      "listTenantAccounts",
      "createTenantAccount",
      "listTenantKeys",
      "createTenantKey",
      "rotateTenantKey",
      "revokeTenantKey",
      "testAccess",
      "rebalance",
      "scrub",
      "recount",
      "listOperations",
      "getOperation",
      "cancelOperation",
      "pauseOperation",
      "resumeOperation",
      "createBackup",
      "restoreBackup",
      "listClusterBackups",
      "getClusterBackup",
      "verifyClusterBackup",
      "listBackupTargets",
      "getBackupTarget",
      "setBackupTarget",
      "deleteBackupTarget",
      "pruneBackups",
      "listBackupSchedules",
      "getBackupSchedule",
      "setBackupSchedule",
      "deleteBackupSchedule",
      "getRepair",
      "setRepair",
      "resumeCollection",
      "getClusterPlacement",
      "getChanges",
      "getEvents",
      "getClusterDoctor",
      "getClusterHistory",
      "planClusterPlacement",
      "setMemberPlacement",
      "deleteMemberPlacement",
      "listMemberDisks",
      "drainDisk",
      "cancelDiskDrain",
      "getClusterTime",
      "confirmClusterTime",
      "setBackClusterTime",
      "getTenantQuota",
      "setTenantQuota",
      "deleteTenantQuota",
      "getTenantLimits",
      "setTenantLimits",
      "deleteTenantLimits",
      "getTenantUsage",
      "getTenantBucketPolicy",
      "setTenantBucketPolicy",
      "deleteTenantBucketPolicy",
      "listApprovals",
      "getApproval",
      "approveChange",
      "rejectChange",
      "queryAuditLog",
      "verifyAuditChain",
      "getClusterMembership",
      "joinVoter",
      "demoteVoter",
      "replaceVoter",
      "markVoterLost",
      "removeMember",
      "transferLeadership"
    ]
  },
  "getSigned": "hello",
  "getTenant": {
    "id": "acme",
    "name": "Acme Inc.",
    "status": "active",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "disabledAt": null,
    "disabledReason": null,
    "deletedAt": null
  },
  "getTenantBucketPolicy": {
    "Version": "2012-10-17",
    "Statement": [
      {
        "Sid": "KeepTheOriginals",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:DeleteObject*",
        "Resource": "arn:aws:s3:::photos/originals/*"
      }
    ]
  },
  "getTenantEncryption": {
    "tenantId": "acme",
    "algorithm": "AES256-GCM",
    "keyVersion": 1,
    "keySince": "2026-11-21T12:00:00.000Z",
    "masterKeyId": "mk-test",
    "exchange": null
  },
  "getTenantLimits": {
    "tenantId": "acme",
    "limits": {
      "tenant": {
        "requestsPerSecond": 500,
        "bytesInPerSecond": null,
        "bytesOutPerSecond": 104857600,
        "burstSeconds": null,
        "requestsAtOnce": null,
        "uploadsAtOnce": 50
      },
      "accessKey": {
        "requestsPerSecond": 100,
        "bytesInPerSecond": null,
        "bytesOutPerSecond": null,
        "burstSeconds": null,
        "requestsAtOnce": null,
        "uploadsAtOnce": null
      },
      "weight": 2
    },
    "applied": {
      "tenant": {
        "requestsPerSecond": 500,
        "bytesInPerSecond": 0,
        "bytesOutPerSecond": 104857600,
        "burstSeconds": 10,
        "requestsAtOnce": 0,
        "uploadsAtOnce": 50
      },
      "accessKey": {
        "requestsPerSecond": 100,
        "bytesInPerSecond": 0,
        "bytesOutPerSecond": 0,
        "burstSeconds": 10,
        "requestsAtOnce": 0,
        "uploadsAtOnce": 0
      }
    },
    "use": {
      "requestsAtOnce": 0,
      "uploadsAtOnce": 0,
      "refused": 0,
      "limitedWithinSeconds": null
    },
    "updatedAt": "2026-11-21T12:00:00.000Z"
  },
  "getTenantQuota": {
    "tenantId": "acme",
    "quota": {
      "maxBytes": 1099511627776,
      "maxObjects": null,
      "maxBuckets": 100
    },
    "usage": {
      "bytes": 30,
      "objects": 2,
      "versions": 6,
      "uploads": 0,
      "metadataBytes": 1668,
      "buckets": 1
    },
    "metadataBytesMax": 1099511627776,
    "updatedAt": "2026-11-21T12:00:00.000Z"
  },
  "getTenantReplication": {
    "tenantId": "acme",
    "target": {
      "endpoint": "https://s3.other-site.example",
      "bucketPrefix": "acme-",
      "region": "us-east-1",
      "virtualHost": false,
      "accessKeyId": "AKOTHERSITE"
    },
    "rules": [
      {
        "id": "everything",
        "status": "Enabled",
        "filter": {},
        "deletes": "markers"
      }
    ],
    "createBuckets": true,
    "existing": false,
    "updatedAt": "2026-11-21T12:00:00.000Z",
    "waiting": []
  },
  "getTenantUsage": {
    "tenantId": "acme",
    "asOf": "2026-11-21T12:00:00.000Z",
    "buckets": 1,
    "objects": 1,
    "versions": 4,
    "deleteMarkers": 3,
    "logicalBytes": 30,
    "multipartUploads": 0,
    "multipartBytes": 0,
    "metadataBytes": 1936,
    "notificationConfigs": 0,
    "physicalBytes": 0,
    "storedBytes": 0,
    "inlineBytes": 94,
    "dedupSavedBytes": 0,
    "compressionSavedBytes": 0,
    "byBucket": [
      {
        "name": "photos",
        "objects": 1,
        "versions": 4,
        "deleteMarkers": 3,
        "logicalBytes": 30
      }
    ],
    "isTruncated": false
  },
  "healthz": {
    "status": "ok"
  },
  "joinVoter": {
    "dryRun": true,
    "operation": "joinVoter",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "steps": [
        {
          "step": "now",
          "voters": [
            "n1",
            "n2",
            "n3"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "learner",
          "voters": [
            "n1",
            "n2",
            "n3"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "voter",
          "voters": [
            "n1",
            "n2",
            "n3",
            "n4"
          ],
          "majority": 3,
          "failureTolerance": 1
        }
      ],
      "copiesToMove": 0,
      "bytesToMove": 0,
      "lastCopies": 0,
      "isComplete": true,
      "newcomer": {
        "nodeId": "n4",
        "incarnation": "life-of-n4",
        "peerAddress": "10.0.0.4:9002",
        "version": "1.0.0",
        "fingerprint": null
      }
    },
    "warnings": [
      "4 voters bear no more failures than 3",
      "Afterwards zone \"rack-1\" holds 3 of 4 voters: without it there is no majority"
    ],
    "blockers": []
  },
  "listApprovals": {
    "approvals": [
      {
        "approvalId": "apr_5e0f3c1a9b7d2468ace01357",
        "operation": "deleteTenant",
        "tenantId": "acme",
        "status": "waiting",
        "change": {
          "operation": "deleteTenant",
          "tenantId": "acme",
          "reason": "The contract has ended"
        },
        "requestedBy": {
          "type": "adminToken",
          "id": "adm_0123456789abcdef"
        },
        "requestedAt": "2026-11-21T12:00:00.000Z",
        "expiresAt": "2026-11-21T12:00:00.000Z",
        "approvedBy": null,
        "approvedAt": null
      }
    ]
  },
  "listBackupSchedules": {
    "schedules": [
      {
        "name": "nightly",
        "target": "nas",
        "tenantId": null,
        "when": "30 2 * * *",
        "keep": {
          "last": 0,
          "hourly": 0,
          "daily": 7,
          "weekly": 4,
          "monthly": 12,
          "yearly": 0
        },
        "paused": false,
        "maxBytesPerSecond": null,
        "failures": 0,
        "nextRunAt": "2026-11-21T12:00:00.000Z",
        "run": null,
        "last": null,
        "lastGood": null,
        "updatedAt": "2026-11-21T12:00:00.000Z"
      }
    ]
  },
  "listBackupTargets": {
    "targets": [
      {
        "name": "nas",
        "updatedAt": "2026-11-21T12:00:00.000Z",
        "directory": {
          "folder": "weekly"
        },
        "s3": null
      }
    ]
  },
  "listBuckets": {
    "buckets": [
      {
        "name": "photos",
        "tenantId": "acme",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "versioning": "Enabled",
        "objectLockEnabled": true,
        "defaultRetention": null,
        "visibility": "private",
        "hasCors": false,
        "hasNotifications": false
      }
    ],
    "isTruncated": false
  },
  "listClusterBackups": {
    "backups": [
      {
        "backupId": "20261127t120000z-0123abcd",
        "backup": {
          "backupId": "20261127t120000z-0123abcd",
          "clusterId": "memory-cluster",
          "tenantId": null,
          "version": "0.0.0",
          "index": 7,
          "featureLevel": 7,
          "checksum": "0000000000000000000000000000000000000000000000000000000000000000",
          "rows": 2,
          "chunks": 0,
          "chunkBytes": 0,
          "cutAt": "2026-11-21T12:00:00.000Z",
          "startedAt": "2026-11-21T12:00:00.000Z",
          "finishedAt": "2026-11-21T12:00:00.000Z",
          "sentChunks": 0,
          "sentBytes": 0,
          "missingCount": 0,
          "missing": []
        },
        "problem": null
      }
    ],
    "isTruncated": false
  },
  "listMemberDisks": {
    "nodeId": "n1",
    "disks": [
      {
        "diskId": "00000000000000000000000000000000",
        "directory": "/mnt/disk1/holdfast",
        "status": "serving",
        "level": "open",
        "totalBytes": 4000000000000,
        "freeBytes": 2500000000000,
        "doubt": null,
        "suggestion": null,
        "left": null
      },
      {
        "diskId": "5e0f3c1a9b7d2468ace0135724681357",
        "directory": "/mnt/disk2/holdfast",
        "status": "draining",
        "level": "open",
        "totalBytes": 4000000000000,
        "freeBytes": 2500000000000,
        "doubt": null,
        "suggestion": null,
        "left": {
          "copies": 120,
          "bytes": 31457280,
          "isComplete": true,
          "roomBytes": 1000000000000
        }
      }
    ]
  },
  "listMultipartUploads": {
    "uploads": [
      {
        "key": "2026/film.txt",
        "uploadId": "mpu_01KAEXAMPLEUPLOADEXAMPLEAA",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "expiresAt": "2026-11-21T12:00:00.000Z",
        "initiator": "AKEXAMPLEEXAMPLEEXAM"
      }
    ],
    "keyMarker": "",
    "uploadIdMarker": "",
    "maxUploads": 1000,
    "isTruncated": false
  },
  "listNotificationDeliveries": {
    "deliveries": [
      {
        "deliveryId": "evt_01M8FY05FF0000000000R00000-B5NJ3PBADCPTQMFI",
        "configId": "thumbs",
        "type": "test",
        "eventName": "s3:TestEvent",
        "eventTime": "2026-11-21T12:00:00.000Z",
        "key": null,
        "versionId": null,
        "status": "pending",
        "attempts": 0,
        "nextAttemptAt": "2026-11-21T12:00:00.000Z",
        "settledAt": null,
        "lastAttempt": null
      }
    ],
    "isTruncated": false
  },
  "listObjectVersions": {
    "bucket": "photos",
    "prefix": "2026/",
    "delimiter": "",
    "maxKeys": 1000,
    "isTruncated": false,
    "versions": [
      {
        "key": "2026/cat.txt",
        "versionId": "01KAEXAMPLEVERSIONEXAMPLEA",
        "isLatest": true,
        "isDeleteMarker": false,
        "lastModified": "2026-11-21T12:00:00.000Z",
        "size": 5,
        "etag": "0123456789abcdef0123456789abcdef-1",
        "storageClass": "STANDARD"
      },
      {
        "key": "2026/copy.txt",
        "versionId": "01KAEXAMPLEVERSIONEXAMPLEA",
        "isLatest": true,
        "isDeleteMarker": false,
        "lastModified": "2026-11-21T12:00:00.000Z",
        "size": 5,
        "etag": "0123456789abcdef0123456789abcdef-1",
        "storageClass": "STANDARD"
      }
    ],
    "commonPrefixes": []
  },
  "listObjects": {
    "bucket": "photos",
    "prefix": "2026/",
    "delimiter": "/",
    "maxKeys": 100,
    "keyCount": 2,
    "isTruncated": false,
    "objects": [
      {
        "key": "2026/cat.txt",
        "size": 5,
        "etag": "0123456789abcdef0123456789abcdef-1",
        "lastModified": "2026-11-21T12:00:00.000Z",
        "storageClass": "STANDARD",
        "versionId": "01KAEXAMPLEVERSIONEXAMPLEA"
      },
      {
        "key": "2026/copy.txt",
        "size": 5,
        "etag": "0123456789abcdef0123456789abcdef-1",
        "lastModified": "2026-11-21T12:00:00.000Z",
        "storageClass": "STANDARD",
        "versionId": "01KAEXAMPLEVERSIONEXAMPLEA"
      }
    ],
    "commonPrefixes": []
  },
  "listOperations": {
    "operations": [
      {
        "operationId": "op_example",
        "type": "backup",
        "status": "cancelled",
        "phase": "queued",
        "requestedBy": "adm_0123456789abcdef",
        "reason": "Before the upgrade",
        "tenantId": null,
        "bucket": null,
        "backupId": "20261128t015829z-adaf5b24",
        "target": "directory:weekly",
        "restore": null,
        "nodeId": null,
        "maxBytesPerSecond": null,
        "createdAt": "2026-11-21T12:00:00.000Z",
        "startedAt": null,
        "finishedAt": "2026-11-21T12:00:00.000Z",
        "progress": {
          "blobsTotal": 0,
          "blobsDone": 0,
          "bytesTotal": 0,
          "bytesMoved": 0,
          "checksumFailures": 0,
          "skipped": 0,
          "tasksOpen": 0
        },
        "etaSeconds": null,
        "nodes": [],
        "blockers": [],
        "error": null
      },
      {
        "operationId": "op_example",
        "type": "keyExchange",
        "status": "queued",
        "phase": "queued",
        "requestedBy": "adm_0123456789abcdef",
        "reason": "Yearly exchange",
        "tenantId": "acme",
        "bucket": null,
        "backupId": null,
        "target": null,
        "restore": null,
        "nodeId": null,
        "maxBytesPerSecond": 100000000,
        "createdAt": "2026-11-21T12:00:00.000Z",
        "startedAt": null,
        "finishedAt": null,
        "progress": {
          "blobsTotal": 0,
          "blobsDone": 0,
          "bytesTotal": 62,
          "bytesMoved": 0,
          "checksumFailures": 0,
          "skipped": 0,
          "tasksOpen": 0
        },
        "etaSeconds": null,
        "nodes": [],
        "blockers": [],
        "error": null
      },
      {
        "operationId": "op_example",
        "type": "backupVerify",
        "status": "queued",
        "phase": "queued",
        "requestedBy": "adm_0123456789abcdef",
        "reason": "Quarterly check",
        "tenantId": null,
        "bucket": null,
        "backupId": "20261127t120000z-0123abcd",
        "target": "directory:weekly",
        "restore": null,
        "nodeId": null,
        "maxBytesPerSecond": null,
        "createdAt": "2026-11-21T12:00:00.000Z",
        "startedAt": null,
        "finishedAt": null,
        "progress": {
          "blobsTotal": 0,
          "blobsDone": 0,
          "bytesTotal": 0,
          "bytesMoved": 0,
          "checksumFailures": 0,
          "skipped": 0,
          "tasksOpen": 0
        },
        "etaSeconds": null,
        "nodes": [],
        "blockers": [],
        "error": null
      },
      {
        "operationId": "op_example",
        "type": "backupRestore",
        "status": "queued",
        "phase": "queued",
        "requestedBy": "adm_0123456789abcdef",
        "reason": "Deleted by mistake",
        "tenantId": "acme",
        "bucket": null,
        "backupId": "20261127t120000z-0123abcd",
        "target": "directory:weekly",
        "restore": {
          "clusterId": "memory-cluster",
          "tenantId": "acme",
          "bucket": "photos",
          "toTenantId": "acme",
          "toBucket": "photos-of-friday",
          "missingCount": 0,
          "missing": []
        },
        "nodeId": null,
        "maxBytesPerSecond": null,
        "createdAt": "2026-11-21T12:00:00.000Z",
        "startedAt": null,
        "finishedAt": null,
        "progress": {
          "blobsTotal": 0,
          "blobsDone": 0,
          "bytesTotal": 0,
          "bytesMoved": 0,
          "checksumFailures": 0,
          "skipped": 0,
          "tasksOpen": 0
        },
        "etaSeconds": null,
        "nodes": [],
        "blockers": [],
        "error": null
      },
      {
        "operationId": "op_example",
        "type": "rebalance",
        "status": "queued",
        "phase": "queued",
        "requestedBy": "adm_0123456789abcdef",
        "reason": "A disk was added",
        "tenantId": "acme",
        "bucket": "photos",
        "backupId": null,
        "target": null,
        "restore": null,
        "nodeId": null,
        "maxBytesPerSecond": 50000000,
        "createdAt": "2026-11-21T12:00:00.000Z",
        "startedAt": null,
        "finishedAt": null,
        "progress": {
          "blobsTotal": 0,
          "blobsDone": 0,
          "bytesTotal": 0,
          "bytesMoved": 0,
          "checksumFailures": 0,
          "skipped": 0,
          "tasksOpen": 0
        },
        "etaSeconds": null,
        "nodes": [],
        "blockers": [],
        "error": null
      }
    ],
    "isTruncated": false
  },
  "listParts": {
    "uploadId": "mpu_01KAEXAMPLEUPLOADEXAMPLEAA",
    "key": "2026/film.txt",
    "parts": [
      {
        "partNumber": 1,
        "etag": "0123456789abcdef0123456789abcdef-1",
        "size": 16,
        "checksums": {
          "CRC32C": "+6oWUA==",
          "CRC64NVME": "/MMedV/0YKM="
        },
        "lastModified": "2026-11-21T12:00:00.000Z"
      }
    ],
    "maxParts": 100,
    "partNumberMarker": 0,
    "isTruncated": false
  },
  "listTenantAccounts": {
    "accounts": [
      {
        "id": "acc_01KAEXAMPLEACCOUNTEXAMPLE",
        "tenantId": "acme",
        "name": "ci",
        "description": "Uploads what the builds make",
        "status": "active",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "keyCount": 1
      }
    ],
    "isTruncated": false
  },
  "listTenantKeys": {
    "keys": [
      {
        "accessKeyId": "AKEXAMPLEEXAMPLEEXAM",
        "tenantId": "acme",
        "accountId": "acc_01KAEXAMPLEACCOUNTEXAMPLE",
        "name": "gallery",
        "scopes": "read,write,delete,admin",
        "status": "active",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "expiresAt": "2026-11-21T12:00:00.000Z",
        "rotatedAt": null,
        "revokedAt": null,
        "revokedReason": null,
        "lastUsedAt": null,
        "version": 1
      }
    ],
    "isTruncated": false
  },
  "listTenants": {
    "tenants": [
      {
        "id": "acme",
        "name": "Acme Inc.",
        "status": "active",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "disabledAt": null,
        "disabledReason": null,
        "deletedAt": null
      }
    ],
    "isTruncated": false
  },
  "markVoterLost": {
    "dryRun": true,
    "operation": "markVoterLost",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "steps": [
        {
          "step": "now",
          "voters": [
            "n1",
            "n2",
            "n3"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "outside",
          "voters": [
            "n1",
            "n2"
          ],
          "majority": 2,
          "failureTolerance": 0
        }
      ],
      "copiesToMove": 0,
      "bytesToMove": 0,
      "lastCopies": 0,
      "isComplete": true,
      "newcomer": null
    },
    "warnings": [
      "This cannot be taken back: the name \"n3\" and its data directory do not come back",
      "Afterwards 0 of 2 voters may fail, now 1 may",
      "2 voters bear no more failures than 1"
    ],
    "blockers": []
  },
  "pauseOperation": {
    "operationId": "op_example",
    "type": "rebalance",
    "status": "paused",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "A disk was added",
    "tenantId": "acme",
    "bucket": "photos",
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": 50000000,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "planClusterPlacement": {
    "chunks": 0,
    "chunksToMove": 0,
    "copiesToMake": 0,
    "bytesToMove": 0,
    "singleZones": 0,
    "nodes": [
      {
        "nodeId": "n1",
        "copiesIn": 0,
        "bytesIn": 0,
        "copiesOut": 0,
        "bytesOut": 0,
        "zone": "rack-1",
        "weight": 1
      },
      {
        "nodeId": "n2",
        "copiesIn": 0,
        "bytesIn": 0,
        "copiesOut": 0,
        "bytesOut": 0,
        "zone": "rack-1",
        "weight": 2
      },
      {
        "nodeId": "n3",
        "copiesIn": 0,
        "bytesIn": 0,
        "copiesOut": 0,
        "bytesOut": 0,
        "zone": "rack-1",
        "weight": 1
      }
    ],
    "secondsAtRepairRate": 0,
    "blockers": [],
    "warnings": [],
    "isTruncated": false
  },
  "previewBucketLifecycle": {
    "judgedAt": "2026-11-21T12:00:00.000Z",
    "rows": 0,
    "counts": {
      "expired": 0,
      "hidden": 0,
      "noncurrent": 0,
      "marker": 0,
      "upload": 0
    },
    "bytes": 0,
    "locked": 0,
    "items": [],
    "isTruncated": false
  },
  "pruneBackups": {
    "dryRun": true,
    "operation": "pruneBackups",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "target": "nas",
      "tenantId": null,
      "keep": {
        "last": 0,
        "hourly": 0,
        "daily": 7,
        "weekly": 4,
        "monthly": 0,
        "yearly": 0
      },
      "chunks": 0,
      "chunkBytes": 0,
      "kept": [
        {
          "backupId": "20261127t120000z-0123abcd",
          "reasons": [
            "newest",
            "daily",
            "weekly"
          ]
        }
      ],
      "removed": [],
      "unreadable": []
    },
    "warnings": [
      "Schedule \"nightly\" keeps other numbers of backups in this target"
    ],
    "blockers": []
  },
  "putObject": {
    "bucket": "photos",
    "key": "2026/cat.txt",
    "versionId": "01KAEXAMPLEVERSIONEXAMPLEA",
    "isLatest": true,
    "size": 5,
    "contentLength": 5,
    "etag": "0123456789abcdef0123456789abcdef-1",
    "contentType": "text/plain",
    "lastModified": "2026-11-21T12:00:00.000Z",
    "storageClass": "STANDARD",
    "checksums": {
      "SHA256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
      "CRC64NVME": "M3eFcAZSQlc="
    },
    "checksumType": "FULL_OBJECT",
    "encryption": {
      "status": "encrypted",
      "algorithm": "AES256-GCM",
      "keyId": "mk-test"
    },
    "compression": {
      "status": "none"
    },
    "retention": {
      "mode": "GOVERNANCE",
      "retainUntil": "2026-11-21T12:00:00.000Z"
    },
    "legalHold": {
      "status": "OFF"
    },
    "metadata": {},
    "tagCount": 1,
    "partsCount": 1
  },
  "putSigned": {
    "bucket": "photos",
    "key": "2026/dog.txt",
    "versionId": "01KAEXAMPLEVERSIONEXAMPLEA",
    "isLatest": true,
    "size": 4,
    "contentLength": 4,
    "etag": "0123456789abcdef0123456789abcdef-1",
    "contentType": "text/plain",
    "lastModified": "2026-11-21T12:00:00.000Z",
    "storageClass": "STANDARD",
    "checksums": {
      "CRC64NVME": "C9c7d5udNpI="
    },
    "checksumType": "FULL_OBJECT",
    "encryption": {
      "status": "encrypted",
      "algorithm": "AES256-GCM",
      "keyId": "mk-test"
    },
    "compression": {
      "status": "none"
    },
    "retention": {
      "mode": "GOVERNANCE",
      "retainUntil": "2026-11-21T12:00:00.000Z"
    },
    "legalHold": {
      "status": "OFF"
    },
    "metadata": {},
    "tagCount": 0,
    "partsCount": 1
  },
  "queryAuditLog": {
    "records": [
      {
        "id": "au_49",
        "time": "2026-11-21T12:00:00.000Z",
        "requestId": "019ab000-0000-7000-8000-000000000000",
        "api": "native",
        "operation": "deleteObject",
        "method": "DELETE",
        "path": "/api/v1/buckets/photos/objects/2026/cat.txt",
        "actor": {
          "type": "accessKey",
          "id": "AKEXAMPLEEXAMPLEEXAM",
          "role": null
        },
        "tenantId": "acme",
        "bucket": "photos",
        "key": "2026/cat.txt",
        "versionId": "01KAEXAMPLEVERSIONEXAMPLEA",
        "reason": null,
        "sourceIp": "127.0.0.1",
        "userAgent": null,
        "bytesIn": 0,
        "nodeId": "n1",
        "bytesOut": null,
        "durationMs": 2,
        "outcome": "success",
        "status": 204,
        "code": null,
        "details": {
          "existed": true,
          "deleteMarker": true
        }
      }
    ],
    "count": 1,
    "isTruncated": false
  },
  "readyz": {
    "status": "ready"
  },
  "rebalance": {
    "operationId": "op_example",
    "type": "rebalance",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "A disk was added",
    "tenantId": "acme",
    "bucket": "photos",
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": 50000000,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "recount": {
    "operationId": "op_example",
    "type": "recount",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "After an upgrade",
    "tenantId": null,
    "bucket": null,
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": null,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "redeliverNotification": {
    "deliveryId": "evt_01M8FY05FF0000000000R00000-B5NJ3PBADCPTQMFI",
    "configId": "thumbs",
    "type": "test",
    "eventName": "s3:TestEvent",
    "eventTime": "2026-11-21T12:00:00.000Z",
    "key": null,
    "versionId": null,
    "status": "pending",
    "attempts": 0,
    "nextAttemptAt": "2026-11-21T12:00:00.000Z",
    "settledAt": null,
    "lastAttempt": null
  },
  "rejectChange": {
    "approvalId": "apr_5e0f3c1a9b7d2468ace01357",
    "operation": "deleteTenant",
    "tenantId": "acme",
    "status": "approved",
    "change": {
      "operation": "deleteTenant",
      "tenantId": "acme",
      "reason": "The contract has ended"
    },
    "requestedBy": {
      "type": "adminToken",
      "id": "adm_0123456789abcdef"
    },
    "requestedAt": "2026-11-21T12:00:00.000Z",
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "approvedBy": "adm_0123456789abcdef",
    "approvedAt": "2026-11-21T12:00:00.000Z"
  },
  "removeMember": {
    "dryRun": true,
    "operation": "removeMember",
    "tenantId": null,
    "allowed": false,
    "plan": {
      "steps": [
        {
          "step": "now",
          "voters": [
            "n1",
            "n2",
            "n3"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "outside",
          "voters": [
            "n1",
            "n2"
          ],
          "majority": 2,
          "failureTolerance": 0
        }
      ],
      "copiesToMove": 0,
      "bytesToMove": 0,
      "lastCopies": 0,
      "isComplete": true,
      "newcomer": null
    },
    "warnings": [
      "This cannot be taken back: the name \"n3\" and its data directory do not come back",
      "Afterwards 0 of 2 voters may fail, now 1 may",
      "2 voters bear no more failures than 1"
    ],
    "blockers": [
      {
        "code": "not_demoted",
        "message": "Cannot remove \"n3\": it is active; demote it first, or cancel its join"
      }
    ]
  },
  "replaceVoter": {
    "dryRun": true,
    "operation": "replaceVoter",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "steps": [
        {
          "step": "now",
          "voters": [
            "n1",
            "n2",
            "n3"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "learner",
          "voters": [
            "n1",
            "n2",
            "n3"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "exchanged",
          "voters": [
            "n1",
            "n2",
            "n4"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "drained",
          "voters": [
            "n1",
            "n2",
            "n4"
          ],
          "majority": 2,
          "failureTolerance": 1
        },
        {
          "step": "removed",
          "voters": [
            "n1",
            "n2",
            "n4"
          ],
          "majority": 2,
          "failureTolerance": 1
        }
      ],
      "copiesToMove": 0,
      "bytesToMove": 0,
      "lastCopies": 0,
      "isComplete": true,
      "newcomer": {
        "nodeId": "n4",
        "incarnation": "life-of-n4",
        "peerAddress": "10.0.0.4:9002",
        "version": "1.0.0",
        "fingerprint": null
      }
    },
    "warnings": [
      "This cannot be taken back once votes have moved: \"n3\" leaves forever; until \"n4\" has its vote the operation can be cancelled"
    ],
    "blockers": []
  },
  "restoreBackup": {
    "operationId": "op_example",
    "type": "backupRestore",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "Deleted by mistake",
    "tenantId": "acme",
    "bucket": null,
    "backupId": "20261127t120000z-0123abcd",
    "target": "directory:weekly",
    "restore": {
      "clusterId": "memory-cluster",
      "tenantId": "acme",
      "bucket": "photos",
      "toTenantId": "acme",
      "toBucket": "photos-of-friday",
      "missingCount": 0,
      "missing": []
    },
    "nodeId": null,
    "maxBytesPerSecond": null,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "resumeCollection": {
    "dryRun": true,
    "operation": "resumeCollection",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "halted": null,
      "lastRecount": null
    },
    "warnings": [],
    "blockers": []
  },
  "resumeOperation": {
    "operationId": "op_example",
    "type": "rebalance",
    "status": "running",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "A disk was added",
    "tenantId": "acme",
    "bucket": "photos",
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": 50000000,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  },
  "resyncBucketReplication": {
    "startedAt": "2026-11-21T12:00:00.000Z",
    "endedAt": null,
    "queued": 0,
    "notReplicable": 0
  },
  "retryBucketReplication": {
    "retried": 0
  },
  "revokeTenantKey": {
    "accessKeyId": "AKEXAMPLEEXAMPLEEXAM",
    "tenantId": "acme",
    "accountId": "acc_01KAEXAMPLEACCOUNTEXAMPLE",
    "name": "gallery",
    "scopes": "read",
    "status": "revoked",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "rotatedAt": "2026-11-21T12:00:00.000Z",
    "revokedAt": "2026-11-21T12:00:00.000Z",
    "revokedReason": "The gallery was closed",
    "lastUsedAt": null,
    "version": 2
  },
  "rotateTenantKey": {
    "accessKeyId": "AKEXAMPLEEXAMPLEEXAM",
    "tenantId": "acme",
    "accountId": "acc_01KAEXAMPLEACCOUNTEXAMPLE",
    "name": "gallery",
    "scopes": "read",
    "status": "active",
    "createdAt": "2026-11-21T12:00:00.000Z",
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "rotatedAt": "2026-11-21T12:00:00.000Z",
    "revokedAt": null,
    "revokedReason": null,
    "lastUsedAt": null,
    "version": 2,
    "secretKey": "shown-once-and-never-again"
  },
  "scrub": {
    "operationId": "op_example",
    "type": "scrub",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "After a power cut",
    "tenantId": null,
    "bucket": null,
    "backupId": null,
    "target": null,
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": null,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [
      {
        "nodeId": "n1",
        "isDone": false,
        "progress": 0,
        "copies": 0,
        "bytes": 0,
        "lost": 0
      },
      {
        "nodeId": "n2",
        "isDone": false,
        "progress": 0,
        "copies": 0,
        "bytes": 0,
        "lost": 0
      },
      {
        "nodeId": "n3",
        "isDone": false,
        "progress": 0,
        "copies": 0,
        "bytes": 0,
        "lost": 0
      }
    ],
    "blockers": [],
    "error": null
  },
  "setBackClusterTime": {
    "dryRun": true,
    "operation": "setBackClusterTime",
    "tenantId": null,
    "allowed": false,
    "plan": {
      "nodeId": "n1",
      "logTime": "2026-11-21T12:00:00.000Z",
      "confirmedTime": "2026-11-21T12:00:00.000Z",
      "withheldMs": 0,
      "majorityTime": "2026-11-21T12:00:00.000Z",
      "offsetMs": 0,
      "offsets": []
    },
    "warnings": [
      "Retention that is stored keeps its date, and nothing is deleted; what was made while the time was ahead keeps its dates"
    ],
    "blockers": [
      {
        "code": "time_changed",
        "message": "Cannot set the time back: the time of the majority is not the one that was shown, or it was shown too long ago; look at it again"
      }
    ]
  },
  "setBackupSchedule": {
    "name": "nightly",
    "target": "nas",
    "tenantId": null,
    "when": "30 2 * * *",
    "keep": {
      "last": 0,
      "hourly": 0,
      "daily": 7,
      "weekly": 4,
      "monthly": 12,
      "yearly": 0
    },
    "paused": false,
    "maxBytesPerSecond": null,
    "failures": 0,
    "nextRunAt": "2026-11-21T12:00:00.000Z",
    "run": null,
    "last": null,
    "lastGood": null,
    "updatedAt": "2026-11-21T12:00:00.000Z"
  },
  "setBackupTarget": {
    "name": "nas",
    "updatedAt": "2026-11-21T12:00:00.000Z",
    "directory": {
      "folder": "weekly"
    },
    "s3": null
  },
  "setBucketCORS": {
    "rules": [
      {
        "id": "app",
        "allowedOrigins": [
          "https://app.example.com"
        ],
        "allowedMethods": [
          "GET",
          "PUT"
        ],
        "allowedHeaders": [
          "content-type"
        ],
        "exposeHeaders": [
          "ETag"
        ],
        "maxAgeSeconds": 600
      }
    ]
  },
  "setBucketLifecycle": {
    "rules": [
      {
        "id": "tmp",
        "status": "Enabled",
        "filter": {
          "prefix": "tmp/",
          "tags": {
            "keep": "no"
          }
        },
        "expiration": {
          "days": 30
        },
        "noncurrentVersionExpiration": {
          "noncurrentDays": 7,
          "newerNoncurrentVersions": 3
        }
      }
    ]
  },
  "setBucketNotifications": {
    "configs": [
      {
        "id": "thumbs",
        "kind": "webhook",
        "url": "https://hooks.example/pictures",
        "events": [
          "object-created"
        ],
        "prefix": "2026/",
        "suffix": "",
        "enabled": true,
        "payloadFormat": "native",
        "signingSecret": "whsec_dCgbE5jO1CjJP6uSUu1lzFi0VD51cRPs",
        "suspended": false,
        "suspensionReason": "",
        "createdAt": "2026-11-21T12:00:00.000Z",
        "updatedAt": "2026-11-21T12:00:00.000Z",
        "pendingCount": 0,
        "deadCount": 0,
        "droppedCount": 0,
        "droppedAt": null
      }
    ]
  },
  "setBucketObjectLock": {
    "objectLockEnabled": true,
    "defaultRetention": {
      "mode": "GOVERNANCE",
      "days": 30
    }
  },
  "setBucketReplication": {
    "target": {
      "endpoint": "https://s3.other-site.example",
      "bucket": "photos-copy",
      "region": "us-east-1",
      "virtualHost": false,
      "accessKeyId": "AKOTHERSITE"
    },
    "rules": [
      {
        "id": "all-but-drafts",
        "status": "Enabled",
        "filter": {
          "prefix": "2026/"
        },
        "deletes": "markers"
      }
    ],
    "ofTenant": false,
    "updatedAt": "2026-11-21T12:00:00.000Z"
  },
  "setBucketVersioning": {
    "status": "Enabled"
  },
  "setMemberPlacement": {
    "dryRun": true,
    "operation": "setMemberPlacement",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "chunks": 0,
      "chunksToMove": 0,
      "copiesToMake": 0,
      "bytesToMove": 0,
      "singleZones": 0,
      "nodes": [
        {
          "nodeId": "n1",
          "copiesIn": 0,
          "bytesIn": 0,
          "copiesOut": 0,
          "bytesOut": 0,
          "zone": "rack-1",
          "weight": 1,
          "weightShareNow": 0.3333333333333333,
          "weightShare": 0.25
        },
        {
          "nodeId": "n2",
          "copiesIn": 0,
          "bytesIn": 0,
          "copiesOut": 0,
          "bytesOut": 0,
          "zone": "rack-1",
          "weight": 1,
          "weightShareNow": 0.3333333333333333,
          "weightShare": 0.25
        },
        {
          "nodeId": "n3",
          "copiesIn": 0,
          "bytesIn": 0,
          "copiesOut": 0,
          "bytesOut": 0,
          "zone": "rack-1",
          "weight": 2,
          "weightShareNow": 0.3333333333333333,
          "weightShare": 0.5
        }
      ],
      "isComplete": true,
      "secondsAtRepairRate": 0
    },
    "warnings": [],
    "blockers": []
  },
  "setObjectLegalHold": {
    "status": "ON"
  },
  "setObjectRetention": {
    "mode": "GOVERNANCE",
    "retainUntil": "2026-11-21T12:00:00.000Z"
  },
  "setObjectTags": {
    "tags": {
      "animal": "cat",
      "mood": "sleepy"
    }
  },
  "setRepair": {
    "maxBytesPerSecond": 100000000,
    "collection": {
      "halted": null,
      "resumed": null
    },
    "lastRecount": null,
    "nodes": [
      {
        "nodeId": "n1",
        "reachable": false,
        "pending": null,
        "waitingForDisk": null,
        "scrub": null,
        "inventory": null,
        "directoriesLost": null,
        "disk": null
      }
    ]
  },
  "setTenantBucketPolicy": {
    "Version": "2012-10-17",
    "Statement": [
      {
        "Sid": "KeepTheOriginals",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:DeleteObject*",
        "Resource": "arn:aws:s3:::photos/originals/*"
      }
    ]
  },
  "setTenantLimits": {
    "tenantId": "acme",
    "limits": {
      "tenant": {
        "requestsPerSecond": 500,
        "bytesInPerSecond": null,
        "bytesOutPerSecond": 104857600,
        "burstSeconds": null,
        "requestsAtOnce": null,
        "uploadsAtOnce": 50
      },
      "accessKey": {
        "requestsPerSecond": 100,
        "bytesInPerSecond": null,
        "bytesOutPerSecond": null,
        "burstSeconds": null,
        "requestsAtOnce": null,
        "uploadsAtOnce": null
      },
      "weight": 2
    },
    "applied": {
      "tenant": {
        "requestsPerSecond": 500,
        "bytesInPerSecond": 0,
        "bytesOutPerSecond": 104857600,
        "burstSeconds": 10,
        "requestsAtOnce": 0,
        "uploadsAtOnce": 50
      },
      "accessKey": {
        "requestsPerSecond": 100,
        "bytesInPerSecond": 0,
        "bytesOutPerSecond": 0,
        "burstSeconds": 10,
        "requestsAtOnce": 0,
        "uploadsAtOnce": 0
      }
    },
    "use": {
      "requestsAtOnce": 0,
      "uploadsAtOnce": 0,
      "refused": 0,
      "limitedWithinSeconds": null
    },
    "updatedAt": "2026-11-21T12:00:00.000Z"
  },
  "setTenantQuota": {
    "tenantId": "acme",
    "quota": {
      "maxBytes": 1099511627776,
      "maxObjects": null,
      "maxBuckets": 100
    },
    "usage": {
      "bytes": 30,
      "objects": 2,
      "versions": 6,
      "uploads": 0,
      "metadataBytes": 1668,
      "buckets": 1
    },
    "metadataBytesMax": 1099511627776,
    "updatedAt": "2026-11-21T12:00:00.000Z"
  },
  "setTenantReplication": {
    "tenantId": "acme",
    "target": {
      "endpoint": "https://s3.other-site.example",
      "bucketPrefix": "acme-",
      "region": "us-east-1",
      "virtualHost": false,
      "accessKeyId": "AKOTHERSITE"
    },
    "rules": [
      {
        "id": "everything",
        "status": "Enabled",
        "filter": {},
        "deletes": "markers"
      }
    ],
    "createBuckets": true,
    "existing": false,
    "updatedAt": "2026-11-21T12:00:00.000Z",
    "waiting": []
  },
  "signURL": {
    "url": "https://storage.example.com/api/v1/signed/photos/2026/cat.txt?token=svcurl_eyJ2IjoxfQ.c2lnbmF0dXJl",
    "token": "svcurl_eyJ2IjoxfQ.c2lnbmF0dXJl",
    "method": "GET",
    "bucket": "photos",
    "key": "2026/cat.txt",
    "keyPrefix": null,
    "urlTemplate": null,
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "ttlSeconds": 600,
    "requiredHeaders": {},
    "contentLengthMax": null
  },
  "signUpload": {
    "url": "https://storage.example.com/api/v1/signed/photos/2026/?token=svcurl_eyJ2IjoxfQ.c2lnbmF0dXJl",
    "token": "svcurl_eyJ2IjoxfQ.c2lnbmF0dXJl",
    "method": "PUT",
    "bucket": "photos",
    "key": null,
    "keyPrefix": "2026/",
    "urlTemplate": "https://storage.example.com/api/v1/signed/photos/2026/{+suffix}?token=svcurl_eyJ2IjoxfQ.c2lnbmF0dXJl",
    "expiresAt": "2026-11-21T12:00:00.000Z",
    "ttlSeconds": 900,
    "requiredHeaders": {},
    "contentLengthMax": 1000
  },
  "testAccess": {
    "allowed": true,
    "code": null,
    "reason": "Access key 'AKXQH6VSXFQPG5KDLNSF' has a scope that covers 'getObject' here, and no policy denies it",
    "decidedBy": "scopes",
    "scopes": [
      {
        "verb": "read",
        "bucket": "*",
        "prefix": ""
      }
    ],
    "statement": null
  },
  "testNotification": {
    "deliveryId": "evt_01M8FY05FF0000000000R00000-B5NJ3PBADCPTQMFI",
    "configId": "thumbs",
    "type": "test",
    "eventName": "s3:TestEvent",
    "eventTime": "2026-11-21T12:00:00.000Z",
    "key": null,
    "versionId": null,
    "status": "pending",
    "attempts": 0,
    "nextAttemptAt": "2026-11-21T12:00:00.000Z",
    "settledAt": null,
    "lastAttempt": null
  },
  "transferLeadership": {
    "dryRun": true,
    "operation": "transferLeadership",
    "tenantId": null,
    "allowed": true,
    "plan": {
      "target": null
    },
    "warnings": [],
    "blockers": []
  },
  "uploadPart": {
    "partNumber": 1,
    "etag": "0123456789abcdef0123456789abcdef-1",
    "size": 16,
    "checksums": {
      "CRC32C": "+6oWUA==",
      "CRC64NVME": "/MMedV/0YKM="
    }
  },
  "verifyAuditChain": {
    "segments": 0,
    "links": 64,
    "rows": 64,
    "first": 0,
    "from": 0,
    "to": 64,
    "end": 64,
    "head": "64:f94f19ae74c333b09284daa0b7bdb7de8ce04bbe0f31abfb078caa4a3b9518ad",
    "isWhole": true,
    "firstFault": null,
    "isTruncated": false
  },
  "verifyClusterBackup": {
    "operationId": "op_example",
    "type": "backupVerify",
    "status": "queued",
    "phase": "queued",
    "requestedBy": "adm_0123456789abcdef",
    "reason": "Quarterly check",
    "tenantId": null,
    "bucket": null,
    "backupId": "20261127t120000z-0123abcd",
    "target": "directory:weekly",
    "restore": null,
    "nodeId": null,
    "maxBytesPerSecond": null,
    "createdAt": "2026-11-21T12:00:00.000Z",
    "startedAt": null,
    "finishedAt": null,
    "progress": {
      "blobsTotal": 0,
      "blobsDone": 0,
      "bytesTotal": 0,
      "bytesMoved": 0,
      "checksumFailures": 0,
      "skipped": 0,
      "tasksOpen": 0
    },
    "etaSeconds": null,
    "nodes": [],
    "blockers": [],
    "error": null
  }
}
