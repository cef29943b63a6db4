-- Clients, and the hash of the token that each one shows.
CREATE TABLE IF NOT EXISTS clients (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  name VARCHAR(190) NOT NULL,
  token_hash CHAR(64) NOT NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  UNIQUE KEY uq_clients_token (token_hash)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- One row for each agent. The epoch is the fencing token: a promotion compares it and raises it by one.
CREATE TABLE IF NOT EXISTS agents (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  client_id VARCHAR(64) NOT NULL,
  logical_agent_id VARCHAR(190) NOT NULL,
  uid CHAR(36) NOT NULL DEFAULT (UUID()),
  instance_id VARCHAR(64) NULL,
  status VARCHAR(20) NOT NULL DEFAULT 'online',
  epoch BIGINT NOT NULL DEFAULT 0,
  -- Raised by every wish: a changed configuration, a notice, a switch.
  generation BIGINT NOT NULL DEFAULT 1,
  region VARCHAR(32) NOT NULL DEFAULT '',
  auto_switch_enabled BOOLEAN NOT NULL DEFAULT FALSE,
  manual_replica_enabled BOOLEAN NOT NULL DEFAULT FALSE,
  auto_terminate_enabled BOOLEAN NOT NULL DEFAULT FALSE,
  terminate_wait_seconds INT NOT NULL DEFAULT 300,
  retention_days INT NOT NULL DEFAULT 30,
  -- The image, the pools and the caps that replicas are launched by.
  launch_config JSON NULL,
  notice_status VARCHAR(20) NOT NULL DEFAULT 'none',
  notice_instance_id VARCHAR(64) NULL,
  notice_received_at DATETIME(3) NULL,
  notice_deadline DATETIME(3) NULL,
  switch_target VARCHAR(64) NULL,
  last_heartbeat_at DATETIME(3) NULL,
  phase VARCHAR(32) NULL,
  phase_message TEXT NULL,
  carried_out BIGINT NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  updated_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  UNIQUE KEY uq_agents_logical (client_id, logical_agent_id),
  CONSTRAINT chk_agents_modes CHECK (NOT (auto_switch_enabled AND manual_replica_enabled))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Instances of both roles. The slot is 1 for a PRIMARY and null for every other row, and unique for each agent:
-- whoever writes, and however it is written, a second PRIMARY is refused with error 1062.
CREATE TABLE IF NOT EXISTS instances (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  client_id VARCHAR(64) NOT NULL,
  agent_id VARCHAR(64) NOT NULL,
  instance_type VARCHAR(64) NOT NULL DEFAULT '',
  region VARCHAR(32) NOT NULL DEFAULT '',
  az VARCHAR(32) NOT NULL DEFAULT '',
  market VARCHAR(20) NOT NULL DEFAULT 'spot',
  is_primary BOOLEAN NOT NULL DEFAULT FALSE,
  instance_status VARCHAR(20) NOT NULL DEFAULT 'launching',
  version BIGINT NOT NULL DEFAULT 1,
  epoch BIGINT NULL,
  primary_slot TINYINT GENERATED ALWAYS AS (IF(is_primary, 1, NULL)) STORED,
  interrupted_at DATETIME(3) NULL,
  launched_at DATETIME(3) NULL,
  promoted_at DATETIME(3) NULL,
  -- When it was retired: set when it becomes a zombie, and again when EC2 has confirmed its end.
  terminated_at DATETIME(3) NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  updated_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  UNIQUE KEY uq_instances_primary (agent_id, primary_slot),
  KEY idx_instances_agent_primary (agent_id, is_primary, instance_status),
  KEY idx_instances_status (instance_status, terminated_at),
  CONSTRAINT chk_instances_status CHECK (instance_status IN ('launching', 'running_primary', 'running_replica',
    'promoting', 'terminating', 'zombie', 'terminated')),
  CONSTRAINT chk_instances_role CHECK ((instance_status = 'running_primary') = is_primary)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- What is being prepared. Its row is written before EC2 is asked, and is the source of an instance's row on promotion.
CREATE TABLE IF NOT EXISTS replica_instances (
  id VARCHAR(64) NOT NULL PRIMARY KEY,
  client_id VARCHAR(64) NOT NULL,
  agent_id VARCHAR(64) NOT NULL,
  instance_id VARCHAR(64) NULL,
  instance_type VARCHAR(64) NOT NULL DEFAULT '',
  region VARCHAR(32) NOT NULL DEFAULT '',
  az VARCHAR(32) NOT NULL DEFAULT '',
  market VARCHAR(20) NOT NULL DEFAULT 'spot',
  emergency BOOLEAN NOT NULL DEFAULT FALSE,
  status VARCHAR(20) NOT NULL DEFAULT 'launching',
  reason TEXT NULL,
  error TEXT NULL,
  last_sync_at DATETIME(3) NULL,
  ready_at DATETIME(3) NULL,
  promoted_at DATETIME(3) NULL,
  terminated_at DATETIME(3) NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  updated_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  UNIQUE KEY uq_replicas_instance (instance_id),
  KEY idx_replicas_agent (agent_id, status),
  CONSTRAINT chk_replicas_status CHECK (status IN ('launching', 'syncing', 'ready', 'promoted', 'failed', 'terminated'))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- The audit trail. An event that has a key is written once, however often its writer is repeated.
CREATE TABLE IF NOT EXISTS system_events (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  event_type VARCHAR(64) NOT NULL,
  severity VARCHAR(16) NOT NULL DEFAULT 'info',
  client_id VARCHAR(64) NULL,
  agent_id VARCHAR(64) NULL,
  instance_id VARCHAR(64) NULL,
  message TEXT NOT NULL,
  metadata JSON NULL,
  event_key VARCHAR(190) NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  UNIQUE KEY uq_events_key (event_key),
  KEY idx_events_agent (agent_id, created_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
