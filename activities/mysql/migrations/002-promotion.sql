DROP PROCEDURE IF EXISTS promote_instance_to_primary;

-- Makes an instance the PRIMARY of its agent, and the one before it a ZOMBIE, in one transaction. The expected version
-- is the agent's epoch: of any number of calls with the same one, exactly one succeeds and raises it, and every other
-- is told "version conflict". An error is handed on in its own words.
CREATE PROCEDURE promote_instance_to_primary(
  IN p_instance_id VARCHAR(64),
  IN p_agent_id VARCHAR(64),
  IN p_expected_version BIGINT
)
MODIFIES SQL DATA
BEGIN
  DECLARE v_lock_wait INT DEFAULT @@SESSION.innodb_lock_wait_timeout;
  DECLARE v_epoch BIGINT;
  DECLARE v_status VARCHAR(20);
  DECLARE v_owner VARCHAR(64);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    SET SESSION innodb_lock_wait_timeout = v_lock_wait;
    RESIGNAL;
  END;

  -- A transaction that the caller has open ends here, as START TRANSACTION would end it anyway.
  COMMIT;
  SET SESSION innodb_lock_wait_timeout = 5;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION;

  -- The lock on the agent's row puts all promotions of one agent in a line.
  SELECT epoch INTO v_epoch FROM agents WHERE id = p_agent_id FOR UPDATE;
  IF v_epoch IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'unknown agent';
  END IF;
  UPDATE agents
     SET epoch = epoch + 1, instance_id = p_instance_id, switch_target = NULL
   WHERE id = p_agent_id AND epoch = p_expected_version;
  IF ROW_COUNT() = 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'version conflict';
  END IF;

  SELECT instance_status, agent_id INTO v_status, v_owner FROM instances WHERE id = p_instance_id FOR UPDATE;
  IF v_status IS NULL THEN
    INSERT INTO instances
      (id, client_id, agent_id, instance_type, region, az, market, is_primary, instance_status, launched_at)
    SELECT instance_id, client_id, agent_id, instance_type, region, az, market, FALSE, 'running_replica', created_at
      FROM replica_instances
     WHERE instance_id = p_instance_id AND agent_id = p_agent_id AND status IN ('launching', 'syncing', 'ready');
    IF ROW_COUNT() = 0 THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'instance cannot be promoted: it is not known as a replica';
    END IF;
  ELSEIF v_owner <> p_agent_id THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'instance cannot be promoted: it belongs to another agent';
  ELSEIF v_status NOT IN ('running_replica', 'promoting', 'launching') THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'instance cannot be promoted: it is no replica';
  END IF;

  UPDATE instances
     SET is_primary = FALSE, instance_status = 'zombie', terminated_at = UTC_TIMESTAMP(3), version = version + 1
   WHERE agent_id = p_agent_id AND is_primary = TRUE AND id <> p_instance_id;
  UPDATE instances
     SET is_primary = TRUE, instance_status = 'running_primary', promoted_at = UTC_TIMESTAMP(3),
         terminated_at = NULL, epoch = v_epoch + 1, version = version + 1
   WHERE id = p_instance_id AND agent_id = p_agent_id;
  UPDATE replica_instances
     SET status = 'promoted', promoted_at = UTC_TIMESTAMP(3)
   WHERE instance_id = p_instance_id AND agent_id = p_agent_id;
  INSERT INTO system_events (event_type, client_id, agent_id, instance_id, message, metadata)
  SELECT 'instance_promoted', client_id, id, p_instance_id,
         CONCAT('promoted to PRIMARY with epoch ', epoch), JSON_OBJECT('epoch', epoch)
    FROM agents WHERE id = p_agent_id;
  COMMIT;
  SET SESSION innodb_lock_wait_timeout = v_lock_wait;
END;
