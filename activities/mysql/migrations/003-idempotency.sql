-- What a client was answered under a key of its own choice, so that a repetition of the request is answered the same.
CREATE TABLE IF NOT EXISTS idempotency_keys (
  client_id VARCHAR(64) NOT NULL,
  idempotency_key VARCHAR(190) NOT NULL,
  request_hash CHAR(64) NOT NULL,
  status INT NULL,
  answer MEDIUMTEXT NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (client_id, idempotency_key),
  KEY idx_idempotency_created (created_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
